"""Scores of single captions are those of ``score``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import captious
from captious.judgment.studies import item_scores

REFERENCES = [["a dog runs on grass", "a dog"], ["a red bus", "the bus"], ["two cats", "cats on a bed"]]
CANDIDATES = ["a dog runs", "a bus in the street", "a man"]


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    path = tmp_path / "rated.jsonl"
    records = [
        {"candidate": text, "references": of_image, "rating": n}
        for n, (text, of_image) in enumerate(zip(CANDIDATES, REFERENCES, strict=True))
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_items_have_their_scores(rated: Path) -> None:
    study = item_scores(rated, ["3", "1"], ["bleu-1", "rouge-l"])
    scores = captious.score([CANDIDATES[2], CANDIDATES[0]], [REFERENCES[2], REFERENCES[0]], ["bleu-1", "rouge-l"])
    assert [(r["metric"], r["item"], r["value"]) for r in study.records] == [
        (label, item, value)
        for label, result in scores.items()
        for item, value in zip("31", result.per_caption.tolist(), strict=True)
    ]
    assert study.signatures.keys() == {"bleu-1", "rouge-l"}
