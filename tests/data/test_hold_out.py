"""One reference of each image as a candidate and the others as its references."""

from __future__ import annotations

import pytest

from captious.data import read_references
from captious.data.matching import hold_out
from captious.errors import ParameterError

REFERENCES = {7: ["a", "b", "c"], 8: ["alone"], 9: ["d", "e"]}


def test_held_out_captions_and_references_partition_the_captions() -> None:
    captions, left_out = hold_out(read_references(REFERENCES), seed=0)
    assert left_out == 1
    assert captions.ids == (7, 9)
    bounds = captions.references.offsets.tolist()
    assert bounds == [0, 2, 3]
    for row, (image, candidate) in enumerate(zip(captions.ids, captions.candidates, strict=True)):
        others = [*captions.references.texts[bounds[row] : bounds[row + 1]]]
        assert others == [text for text in REFERENCES[int(image)] if text != candidate]


def test_every_reference_is_drawn_by_some_seed() -> None:
    table = read_references(REFERENCES)
    drawn = {hold_out(table, seed)[0].candidates for seed in range(50)}
    assert drawn == {(first, second) for first in "abc" for second in "de"}
    assert hold_out(table, 3)[0].candidates == hold_out(table, 3)[0].candidates


def test_holding_out_needs_two_references() -> None:
    with pytest.raises(ParameterError, match="no image has two or more references") as caught:
        hold_out(read_references({1: ["a"], 2: ["b"]}), seed=0)
    assert "human captions" in caught.value.hint
