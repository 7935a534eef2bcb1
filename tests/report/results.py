"""Results for tests of what is written of them: of every kind, on a few captions, and judgments made up by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import captious
from captious.evaluation.judged_pairs import Preference, Preferences
from captious.evaluation.report import Reports
from captious.judgment import Agreement, BenchmarkResult, Judgment
from captious.judgment.benchmarks.names import protocol
from captious.scale import score_shards
from captious.statistics import Sampling
from tests.support.judgments import write_jsonl

WORDS = ["dog", "cat", "man", "bus", "bird", "horse", "boat", "girl", "plate", "bench", "street", "tree"]
REFERENCES = {
    i: [f"a {word} on the {WORDS[i - 1]}", f"the {word}", f"one {word} today"] for i, word in enumerate(WORDS)
}
SYSTEMS = {
    "good": {i: f"a {word} on a {WORDS[i - 2]}" for i, word in enumerate(WORDS)},
    "fair": {i: f"a {WORDS[i - 1]} and the {word}" for i, word in enumerate(WORDS)},
    "poor": {i: f"the {WORDS[i // 2]} there" for i in range(12)},
}
GOOD, POOR = SYSTEMS["good"], SYSTEMS["poor"]
GROUPS = {i: ("even", "odd", "odd")[i % 3] for i in range(12)}
METRICS = ["bleu-1", "rouge-l", "chrf"]
#: Numbers that nothing has by default.
SAMPLING: Any = {"resamples": 37, "seed": 5}


def report(name: str = "good") -> captious.Report:
    return captious.score(SYSTEMS[name], REFERENCES, METRICS, system=name)


def reports(n: int = 2) -> Reports:
    return Reports([report(name) for name in [*SYSTEMS][:n]])


def comparison(n: int = 2, level: float = 0.8) -> Any:
    return captious.compare(reports(n), level=level, **SAMPLING)


def judged(folder: Path, test: str = "permutation") -> Judgment:
    """Judge metrics by pairs of captions, one of each image."""
    pairs = [{"better": GOOD[i], "worse": POOR[i], "references": REFERENCES[i]} for i in REFERENCES]
    write_jsonl(folder, "own.jsonl", pairs)
    return captious.judge(folder / "own.jsonl", METRICS, compare=True, test=test, **SAMPLING)


def of_shards(folder: Path, *, intervals: bool) -> captious.Report:
    """Score captions that lie in a shard."""
    rows = [{"id": i, "candidate": GOOD[i], "references": REFERENCES[i]} for i in REFERENCES]
    write_jsonl(folder, "part.jsonl", rows)
    return score_shards(folder / "part.jsonl", METRICS, intervals=intervals)


def preferences() -> Preferences:
    """Return the preferences of a judge among three systems."""
    pairs = [
        Preference(a, b, np.array([1.0, 0.5, 1.0]), np.zeros(3, bool), 5 / 6, (0.5, 1.0))
        for a, b in (("x", "y"), ("x", "z"), ("y", "z"))
    ]
    return Preferences(["x", "y", "z"], pairs, "judge-pairwise|...", [], Sampling(**SAMPLING, level=0.8))


RESULTS: dict[str, Callable[[Path], Any]] = {
    "Report": lambda folder: report(),
    "Reports": lambda folder: reports(3),
    "GroupedReport": lambda folder: captious.by_group(report(), GROUPS),
    "GroupedReports": lambda folder: captious.by_group(reports(), GROUPS),
    "Comparison": lambda folder: comparison(),
    "Comparison with a level of decimals": lambda folder: comparison(level=0.975),
    "GroupedComparison": lambda folder: captious.by_group(comparison(), GROUPS),
    "Comparison of several": lambda folder: comparison(3),
    "Check": lambda folder: captious.check({**GOOD, 3: ""}, REFERENCES),
    "Check of captions without findings": lambda folder: captious.check(GOOD, REFERENCES),
    "ShardReport": lambda folder: of_shards(folder, intervals=False),
    "ShardReport with intervals": lambda folder: of_shards(folder, intervals=True),
    "Judgment": judged,
    "Judgment by the bootstrap": lambda folder: judged(folder, "bootstrap"),
    "BenchmarkResult": lambda folder: judged(folder)["own"],
    "Study": lambda folder: captious.Study("study", "A study", ["metric", "value"], [{"metric": "m", "value": 1.0}]),
    "Preferences": lambda folder: preferences(),
}


def agreement(metric: str, value: float, rank: int | None) -> Agreement:
    return Agreement(metric, value, (value - 0.02, value + 0.01), rank, f"{metric}|variant:official")


def judgment(*agreements: Agreement, warnings: Sequence[str] = ()) -> Judgment:
    """Return a judgment of 100 captions of a benchmark."""
    verdict = BenchmarkResult(protocol("composite"), 100, {"a": "b"}, {a.metric: a for a in agreements})
    return Judgment([verdict], Sampling(10, 0), list(warnings))
