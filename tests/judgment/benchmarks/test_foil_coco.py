"""FOIL-COCO: every wrong caption against the correct one of its id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.errors import CaptionFileError
from captious.judgment.judgments import CaptionPairs
from tests.support.judgments import load, write


def annotation(key: int, image: int, caption: str, foil: bool) -> dict[str, Any]:
    return {"id": key, "image_id": image, "caption": caption, "foil": foil, "foil_word": "x", "target_word": "y"}


FOIL = [
    annotation(10, 1, "a dog runs ", False),
    annotation(10, 1, "a cat runs", True),
    annotation(10, 1, "a cow runs", True),
    annotation(11, 2, "a bus", False),  # without a wrong one
]
COCO = [(1, "a dog runs"), (1, "the dog "), (1, "dogs"), (2, "a bus"), (2, "the bus")]


def put(folder: Path, foil: list[dict[str, Any]]) -> None:
    write(folder, "foil/foilv1.0_test_2017.json", {"annotations": foil, "images": [{"id": 1, "file_name": "x"}]})
    write(
        folder,
        "coco/captions_val2014.json",
        {"annotations": [{"image_id": image, "caption": caption} for image, caption in COCO]},
    )


def test_foil_coco_pairs_are_read(tmp_path: Path) -> None:
    put(tmp_path, FOIL)
    found = load(tmp_path, "foil-coco")
    assert isinstance(found, CaptionPairs)
    assert found.captions.candidates == ("a dog runs", "a cat runs", "a dog runs", "a cow runs")
    assert found.captions.references.texts == ("the dog", "dogs") * 4
    assert found.preferred.tolist() == [0, 0]
    one = load(tmp_path, "foil-coco@one-ref")
    assert isinstance(one, CaptionPairs)
    assert one.captions.references.texts == ("the dog",) * 4


def test_foil_coco_tie_counts_as_wrong(tmp_path: Path) -> None:
    put(tmp_path, FOIL)
    found = load(tmp_path, "foil-coco")
    assert found.values(np.array([1.0, 1.0, 1.0, 0.0])).tolist() == [0.5]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (annotation(12, 1, "a cow", True), "12 has no caption"),
        (annotation(10, 3, "a cow", True), "3 has no caption"),
    ],
)
def test_broken_annotations_are_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    put(tmp_path, [*FOIL, change])
    with pytest.raises(CaptionFileError, match=message) as caught:
        load(tmp_path, "foil-coco")
    assert f"annotation {change['id']}" in caught.value.where
