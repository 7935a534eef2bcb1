"""Scores of critiques by numpy, against torch and by hand."""

from __future__ import annotations

from captious.data import read_captions
from captious.learned.leic import drawn_references


def test_the_reference_depends_on_the_texts_alone() -> None:
    one = read_captions(["x", "y"], [["a", "b", "c"], ["d", "e"]])
    other = read_captions(["y", "x"], [["e", "d"], ["c", "a", "b"]])
    for seed in range(20):
        first = [one.references.texts[row] for row in drawn_references(one, seed)]
        second = [other.references.texts[row] for row in drawn_references(other, seed)]
        assert first == second[::-1]
    drawn = {one.references.texts[drawn_references(one, seed)[0]] for seed in range(50)}
    assert drawn == {"a", "b", "c"}
