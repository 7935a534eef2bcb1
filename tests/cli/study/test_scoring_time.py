"""captious study timing"""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.study.conftest import METRICS


def test_timing_study_shows_seconds_per_metric(folder: Path, run: Run) -> None:
    outcome = run("study", "timing", "baseline.json", "references.json", *METRICS, "--repeats", 2, "--format", "json")
    assert outcome.code == 0, outcome
    assert outcome.json["settings"]["repeats"] == 2
    assert [r["metric"] for r in outcome.json["records"]] == ["bleu-1", "cider-d"]


def test_timing_study_uses_the_given_threads(folder: Path, run: Run) -> None:
    outcome = run("study", "timing", "baseline.json", "references.json", *METRICS, "--threads", 1, "--format", "json")
    assert outcome.json["settings"]["threads"] == 1
