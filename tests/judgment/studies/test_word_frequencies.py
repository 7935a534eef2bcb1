"""Frequencies of words: counts by hand, and the figures' curves."""

from __future__ import annotations

import pytest

from captious.judgment.studies import word_frequencies
from tests.support.corpora import references_table

#: Both captions of an image have the same words, so that it does not matter which one is held out.
PEOPLE = references_table([["a dog runs.", "A dog runs"], ["a red bus", "a red bus"], ["two dogs", "two dogs!"]])
SYSTEM = {0: "a dog", 1: "a dog on a bus", 2: "a dog"}


def test_word_rates_are_per_thousand_words() -> None:
    study = word_frequencies({"mine": SYSTEM}, PEOPLE, 3)
    assert study.columns == ("word", "people", "mine")
    records = {record["word"]: record for record in study.records}
    assert next(iter(records)) == "a"
    assert len(records) == 3
    assert records["a"]["people"] == pytest.approx(1000 * 2 / 8)
    assert records["a"]["mine"] == pytest.approx(1000 * 4 / 9)
    assert records["dog"]["mine"] == pytest.approx(1000 * 3 / 9)
    assert "people: 8 words, 7 different ones; 3 make up half." in study.notes
    assert "mine: 9 words, 4 different ones; 2 make up half." in study.notes
    line = study.pictures["frequencies"].lines["mine"]  # type: ignore[union-attr]
    assert line.x.tolist() == [1, 2, 3, 4]
    assert line.y.tolist() == pytest.approx([4 / 9, 7 / 9, 8 / 9, 1])


def test_images_with_one_reference_are_left_out() -> None:
    table = references_table([["a dog", "a dog"], ["a lonely caption"]])
    study = word_frequencies({"mine": {0: "a cat", 1: "a cat"}}, table)
    assert [record["word"] for record in study.records] == ["a", "dog"]
    assert any("1 image with a single reference" in note for note in study.notes)
