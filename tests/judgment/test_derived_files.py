"""Files that are made for trainings: examples of COCO, and rated captions of Flickr8k."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from captious.errors import ResourceError
from captious.judgment.judging import coco_examples, expert_ratings
from captious.learned.training.examples import read_examples, read_judged
from tests.support.judgments import write_jsonl

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_examples_leave_evaluation_images_out(tmp_path: Path) -> None:
    folder = tmp_path / "coco"
    (folder / "results_val2014").mkdir(parents=True)
    references = (EXAMPLES / "references.json").read_bytes()
    output = tmp_path / "examples.jsonl"
    with pytest.raises(ResourceError, match="captions and systems of COCO are not in the folder"):
        coco_examples(tmp_path, output)
    (folder / "captions_val2014.json.gz").write_bytes(gzip.compress(references))
    (folder / "results_val2014" / "baseline.json").write_bytes((EXAMPLES / "baseline.json").read_bytes())
    images = [*json.loads(references)]
    (folder / "evaluation_images.json.gz").write_bytes(gzip.compress(json.dumps(images[:3]).encode()))
    coco_examples(tmp_path, output)
    rows = read_examples(output)[0].rows
    assert {str(row.image) for row in rows} == {*images[3:]}
    assert {row.system for row in rows} == {"human", "other-image"}
    assert {row.part for row in rows} == {"train"}


def test_ratings_are_means_of_experts(tmp_path: Path) -> None:
    rows = [
        {"image": "1", "caption_id": "1", "candidate": "a dog", "scores": [1, 2, 4], "refs": ["dogs", "the dog"]},
        {"image": "1", "caption_id": "2", "candidate": "the dog", "scores": [4, 4, 4], "refs": ["dogs", "the dog"]},
        {"image": "2", "caption_id": "3", "candidate": "a cat", "scores": [1, 1, 1], "refs": ["cats"]},
    ]
    write_jsonl(tmp_path, "flickr8k/expert.jsonl", rows)
    expert_ratings(tmp_path, tmp_path / "ratings.jsonl")
    captions, ratings, _ = read_judged(tmp_path / "ratings.jsonl")
    assert ratings.tolist() == [pytest.approx(7 / 3), 1]  # the second caption is a reference
    assert captions.candidates == ("a dog", "a cat")
    assert captions.references.texts == ("dogs", "the dog", "cats")
