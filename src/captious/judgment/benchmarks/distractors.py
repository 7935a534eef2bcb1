"""Distractors: a caption and one with other people or another scene. Hodosh and Hockenmaier 2016.

The tasks are choices between two captions of a picture. Kilickaya et al. 2017 and Sharif et al. evaluate metrics with
them, scoring both captions with the other captions of the image as references: switched people (SP), switched scenes
(SS), just the person (JP) and just the scene (JS).
"""

from __future__ import annotations

from operator import attrgetter

from captious.judgment import Benchmark, CaptionPair, DataFolder, Files, Protocol, Rule

_FILE = "distractors/pairs.jsonl"
_TASKS = ("SP", "SS", "JP", "JS")


def _read(folder: DataFolder) -> list[CaptionPair]:
    pairs = []
    for line, r in enumerate(folder.records(_FILE), 1):
        if r["task"] not in _TASKS:
            raise folder.error(f"{r['task']!r} is not a task", _FILE, line, f"give {', '.join(_TASKS)}")
        pairs.append(CaptionPair(r["image"], (r["correct"], r["distractor"]), 0, r["refs"], r["task"]))
    return pairs


DISTRACTORS = Benchmark(
    "distractors",
    (
        Protocol(
            "distractors",
            "kilickaya2017",
            "accuracy",
            "known",
            "pairs",
            parts=Rule("tasks", attrgetter("part")),
            part_order=_TASKS,
            source="Kilickaya et al. 2017",
        ),
    ),
    (Files((_FILE,), _read),),
    "Hodosh and Hockenmaier 2016",
)
