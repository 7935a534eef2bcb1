"""Errors and warnings of the functions and classes of captious, called with wrong arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import captious as package
from tests.golden.command_line import Shell
from tests.golden.outcomes import call
from tests.golden.record import Record
from tests.support.tables import tables

captious: Any = package  # called with arguments that its types refuse

TEXTS: list[str] = ["a dog runs", "two men play guitar", "a cat"]
OTHERS: list[list[str]] = [["a dog is running", "the dog runs"], ["two men are playing"], ["a cat sleeps"]]
#: Candidates or references that are wrong in one way each.
WRONG: dict[str, Any] = {
    "None": None,
    "a number": 3,
    "nothing": [],
    "numbers": [1, 2, 3],
    "an empty mapping": {},
    "a mapping of numbers": {1: 2},
    "mixed ids": {1: "a", "2": "b"},
    "a float id": {1.5: "a cat"},
    "bytes": [b"a", b"b", b"c"],
    "fewer": ["a dog"],
    "None inside": ["a", None, "b"],
    "a surrogate": ["a", "\ud83d", "b"],
    "rows without ids": [{"caption": "a"}],
    "a generator": (text for text in TEXTS),
    "a path that is not there": Path("none.json"),
}
METRICS: dict[str, Any] = {
    "none": [],
    "a number": 3,
    "unknown": "nope",
    "twice": ["rouge-l", "rouge-l"],
    "a class": captious.RougeL,
    "of sets": ["div"],
    "unknown output": "bleu-9",
    "unknown variant": "rouge-l@nope",
    "unknown parameter": "rouge-l:nope=1",
    "bad value": "rouge-s:gap=-1",
    "no value": "rouge-s:gap=",
}


# What the calls of the table use.


def fails(candidate: str, references: list[str]) -> float:
    raise ValueError(candidate)


def gives_text(candidate: str, references: list[str]) -> Any:
    return candidate


def takes_one(candidate: str) -> float:
    return len(candidate)


@pytest.fixture(autouse=True)
def folder(shell: Shell) -> None:
    """The folder of examples, which the test runs in."""


def summary(report: Any) -> Any:
    return {name: result.score for name, result in report.items()} if hasattr(report, "items") else report


def test_calls_with_wrong_captions_are_as_recorded(record: Record) -> None:
    found = {}
    for name, wrong in WRONG.items():
        found[f"candidates: {name}"] = call(lambda w=wrong: summary(captious.score(w, OTHERS, "rouge-l")))  # type: ignore[misc]
        found[f"references: {name}"] = call(lambda w=wrong: summary(captious.score(TEXTS, w, "rouge-l")))  # type: ignore[misc]
        found[f"read_captions: {name}"] = call(lambda w=wrong: captious.read_captions(w))  # type: ignore[misc]
        found[f"read_references: {name}"] = call(lambda w=wrong: captious.read_references(w))  # type: ignore[misc]
        found[f"check: {name}"] = call(lambda w=wrong: captious.check(w))  # type: ignore[misc]
        found[f"prepare: {name}"] = call(lambda w=wrong: captious.prepare(w, "rouge-l", path="x.prepared"))  # type: ignore[misc]
    record("python/captions", found)


def test_calls_with_wrong_metrics_are_as_recorded(record: Record) -> None:
    found = {}
    for name, metrics in METRICS.items():
        found[f"score: {name}"] = call(lambda m=metrics: summary(captious.score(TEXTS, OTHERS, m)))  # type: ignore[misc]
        found[f"explain: {name}"] = call(lambda m=metrics: captious.explain("a cat", ["a cat"], m))  # type: ignore[misc]
        found[f"reward: {name}"] = call(lambda m=metrics: captious.reward("references.json", m))  # type: ignore[misc]
        found[f"judge: {name}"] = call(lambda m=metrics: captious.judge("rated.jsonl", m, resamples=10))  # type: ignore[misc]
    record("python/metrics", found)


def test_other_wrong_calls_are_as_recorded(shell: Shell, record: Record) -> None:
    found = {}
    for name, text in [item for calls in tables(__file__).values() for item in calls.items()]:
        code = compile(text, __file__, "eval")
        found[name] = call(lambda code=code: summary(eval(code)))  # type: ignore[misc]
    record("python/others", shell.clean(found, [r"(?<=\.py:)\d+"]))
