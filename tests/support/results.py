"""Results for tests of what is written of them: judgments made up by hand, and runs on a few captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import captious
from captious.evaluation.judged_pairs import Preference, Preferences
from captious.judgment import Agreement, BenchmarkResult, Judgment
from captious.judgment.benchmarks.names import protocol
from captious.scale import score_shards
from captious.statistics import Sampling
from tests.support.judgments import write_jsonl

__all__ = ["agreement", "judged", "judged_pairs", "judgment", "shards"]

Captions = Mapping[int, str]
References = Mapping[int, list[str]]


def agreement(metric: str, value: float, rank: int | None) -> Agreement:
    return Agreement(metric, value, (value - 0.02, value + 0.01), rank, f"{metric}|variant:official")


def judgment(*agreements: Agreement, warnings: Sequence[str] = ()) -> Judgment:
    """Return a judgment of 100 captions of a benchmark."""
    verdict = BenchmarkResult(protocol("composite"), 100, {"a": "b"}, {a.metric: a for a in agreements})
    return Judgment([verdict], Sampling(10, 0), list(warnings))


def judged(
    folder: Path, better: Captions, worse: Captions, references: References, metrics: list[str], **options: Any
) -> Judgment:
    """Judge metrics by pairs of captions, one of each image."""
    pairs = [{"better": better[i], "worse": worse[i], "references": references[i]} for i in references]
    write_jsonl(folder, "own.jsonl", pairs)
    return captious.judge(folder / "own.jsonl", metrics, **options)


def shards(
    folder: Path, candidates: Captions, references: References, metrics: list[str], *, intervals: bool
) -> captious.Report:
    """Score captions that lie in a shard."""
    write_jsonl(
        folder, "part.jsonl", [{"id": i, "candidate": candidates[i], "references": references[i]} for i in references]
    )
    return score_shards(folder / "part.jsonl", metrics, intervals=intervals)


def judged_pairs(sampling: Sampling) -> Preferences:
    """Return the preferences of a judge among three systems."""
    pairs = [
        Preference(a, b, np.array([1.0, 0.5, 1.0]), np.zeros(3, bool), 5 / 6, (0.5, 1.0))
        for a, b in (("x", "y"), ("x", "z"), ("y", "z"))
    ]
    return Preferences(["x", "y", "z"], pairs, "judge-pairwise|...", [], sampling)
