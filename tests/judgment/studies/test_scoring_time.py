"""Timing: what is measured and how often, on captions without annotations."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

from captious.data import read_captions
from captious.judgment.studies import scoring_time
from captious.native import threads

CAPTIONS = read_captions([f"caption number {i}" for i in range(50)], [[f"caption {i}"] for i in range(50)])


class Sleeper:
    """A metric that takes its time and works for none of it."""

    __name__ = "sleeper"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.sizes: list[int] = []

    def __call__(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        self.sizes.append(len(candidates))
        time.sleep(self.seconds)
        return [1.0] * len(candidates)


def test_times_are_per_thousand_captions() -> None:
    sleeper = Sleeper(0.02)
    study = scoring_time(CAPTIONS, metrics=sleeper, repeats=3)
    (record,) = study.records
    assert sleeper.sizes == [10, 50, 50, 50]
    assert 0.02 <= record["wall_s"] * 50 / 1000 < 0.1
    assert record["fastest_s"] <= record["wall_s"] <= record["slowest_s"]
    assert record["cpu_s"] < record["wall_s"] / 2  # asleep is not at work
    assert study.settings["threads"] == threads()
    assert f"{threads()} thread" in study.title


def test_every_metric_is_timed_alone_and_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    from captious.text import tokens

    cut: list[int] = []
    of_references = tokens.TokenLayer.of_references

    def noted(layer: Any, references: Any) -> Any:
        cut.append(len(references))
        return of_references(layer, references)

    monkeypatch.setattr(tokens.TokenLayer, "of_references", noted)
    study = scoring_time(CAPTIONS, metrics=["bleu-1", "bleu-4", "rouge-l"], repeats=2)
    assert [record["metric"] for record in study.records] == ["bleu", "rouge-l"]
    assert cut == [10, 50, 50] * 2
    assert set(study.signatures) == {"bleu-1", "bleu-4", "rouge-l"}
    assert all(record["wall_s"] > 0 for record in study.records)


def test_timing_accepts_captions() -> None:
    study = scoring_time(["a cat"], [["the cat"]], "bleu-1", repeats=1)
    assert study.settings["captions"] == 1
