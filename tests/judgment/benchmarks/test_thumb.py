"""THumB 1.0: precision and recall are protocols of their own, with and without human captions."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.errors import CaptionFileError
from captious.judgment.judgments import RatedCaptions
from tests.support.judgments import load, write_jsonl

RATINGS = [
    {"SYS": "Up-Down", "seg_id": "7", "hyp": "A dog.", "image": "x_7.jpg", "P": 4.0, "R": 3.0, "human_score": 3.5},
    {"SYS": "Human", "seg_id": "7", "hyp": "A red dog.", "image": "x_7.jpg", "P": 5.0, "R": 5.0, "human_score": 4.7},
    {"SYS": "Up-Down", "seg_id": "9", "hyp": "A cat.", "image": "x_9.jpg", "P": 1.0, "R": 2.0, "human_score": 1.5},
]
REFERENCES = [{"seg_id": "9", "refs": ["a cow"]}, {"seg_id": "7", "refs": ["a dog runs", "the dog"]}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_jsonl(tmp_path, "thumb/mscoco_THumB-1.0.jsonl", RATINGS)
    write_jsonl(tmp_path, "thumb/mscoco_references.json", REFERENCES)
    return tmp_path


@pytest.mark.parametrize(
    ("protocol", "ratings"),
    [
        ("thumb", [3.5, 1.5]),
        ("thumb@precision", [4.0, 1.0]),
        ("thumb@recall", [3.0, 2.0]),
        ("thumb@recall-with-human", [3.0, 5.0, 2.0]),
        ("thumb@total-with-human", [3.5, 4.7, 1.5]),
    ],
)
def test_thumb_ratings_are_read(folder: Path, protocol: str, ratings: list[float]) -> None:
    found = load(folder, protocol)
    assert isinstance(found, RatedCaptions)
    assert [each.tolist() for each in found.ratings] == [[rating] for rating in ratings]
    assert found.protocol.statistic == "pearson"
    assert found.captions.candidates[0] == "A dog."
    assert found.captions.references.texts[:2] == ("a dog runs", "the dog")
    assert found.captions.references.images[0] == "x_7.jpg"
    assert found.units.tolist() == ([0, 1] if len(ratings) == 2 else [0, 0, 1])


@pytest.mark.parametrize(
    ("change", "message"),
    [({"seg_id": "8"}, "8 has no caption"), ({"P": "high"}, "'high' is not a number")],
)
def test_broken_lines_are_named(folder: Path, change: dict[str, object], message: str) -> None:
    write_jsonl(folder, "thumb/mscoco_THumB-1.0.jsonl", [RATINGS[0], RATINGS[1] | change])
    with pytest.raises(CaptionFileError, match=message) as caught:
        load(folder, "thumb")
    assert "mscoco_THumB-1.0.jsonl, line 2" in caught.value.where
