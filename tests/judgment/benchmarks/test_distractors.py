"""Distractors of Hodosh and Hockenmaier: pairs by task, the correct caption preferred."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.errors import CaptionFileError
from captious.judgment import judge
from captious.judgment.judgments import CaptionPairs
from tests.support.judgments import load, write_jsonl

FILE = "distractors/pairs.jsonl"


def pair(image: int, task: str, correct: str, distractor: str) -> dict[str, object]:
    return {"image": image, "task": task, "correct": correct, "distractor": distractor, "refs": ["a dog in a park"]}


def test_distractor_pairs_are_read_with_parts(tmp_path: Path) -> None:
    records = [
        pair(1, "JS", "a dog in a park", "a park"),
        pair(1, "SP", "a dog in a park", "a man in a park"),
        pair(2, "SP", "the dog", "a dog in a park"),
        pair(2, "SS", "a dog in a park", "a dog on a beach"),
        pair(2, "JP", "a dog in a park", "a dog in a park"),
    ]
    write_jsonl(tmp_path, FILE, records)
    found = load(tmp_path, "distractors")
    assert isinstance(found, CaptionPairs)
    assert list(found.part_names) == ["SP", "SS", "JP", "JS"]
    assert found.preferred.tolist() == [0] * 5
    result = judge("distractors", "rouge-l", data=tmp_path, resamples=5)["distractors"]["rouge-l"]
    assert result.parts == {"SP": 0.5, "SS": 1, "JP": 0.5, "JS": 1}  # a tie counts one half
    assert result.value == pytest.approx(3 / 4)
    with pytest.raises(CaptionFileError, match="no pairs of RP, RS"):
        load(tmp_path, "distractors@sharif2019")


def test_replaced_persons_and_scenes_are_two_more_tasks(tmp_path: Path) -> None:
    of_task = {"RS": "a dog on a beach", "RP": "a dog in a park"}  # a tie for RP
    of_task |= dict.fromkeys(["SP", "SS", "JP", "JS"], "a park")
    write_jsonl(tmp_path, FILE, [pair(1, task, "a dog in a park", text) for task, text in of_task.items()])
    result = judge("distractors@sharif2019", "rouge-l", data=tmp_path, resamples=5)["distractors@sharif2019"]
    assert [*result["rouge-l"].parts.items()] == [("RP", 0.5), *((task, 1) for task in ("RS", "SP", "SS", "JP", "JS"))]
    assert load(tmp_path, "distractors").n == 4


def test_unknown_distractor_task_is_refused(tmp_path: Path) -> None:
    write_jsonl(tmp_path, FILE, [pair(1, "XX", "a dog", "a cat")])
    with pytest.raises(CaptionFileError, match="'XX' is not a task"):
        load(tmp_path, "distractors")
