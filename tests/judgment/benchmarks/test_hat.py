"""HAT: captions with and without hallucinations."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.errors import CaptionFileError
from captious.judgment import judge
from captious.judgment.judgments import RatedCaptions
from tests.support.judgments import load, write


def record(image: str, caption: str, hallucination: object) -> dict[str, object]:
    return {
        "image_path": image,
        "caption": caption,
        "references": ["a dog on a sofa", "the dog"],
        "contains_hallucination": hallucination,
        "grounding": [["a", False]],
    }


def test_hat_average_precision_finds_hallucinations(tmp_path: Path) -> None:
    write(
        tmp_path,
        "aloha/hat-trainval.json",
        [record("1", "a dog on a sofa", False), record("2", "a cow on a cow", True)],
    )
    found = load(tmp_path, "hat")
    assert isinstance(found, RatedCaptions)
    assert [each.tolist() for each in found.ratings] == [[1], [0]]
    judgment = judge("hat", ["rouge-l"], data=tmp_path, resamples=20)
    assert judgment["hat"]["rouge-l"].value == 1.0
    assert judgment["hat"].protocol.statistic == "average-precision"


def test_malformed_hat_labels_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "aloha/hat-trainval.json", [record("1", "a dog", False), record("2", "a cow", "no")])
    with pytest.raises(CaptionFileError, match="neither true nor false") as caught:
        load(tmp_path, "hat")
    assert "record 2" in caught.value.where
