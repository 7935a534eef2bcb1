"""captious study metrics"""

from __future__ import annotations

from pathlib import Path

from captious.judgment import studies
from tests.cli.conftest import Run, assert_refused
from tests.cli.study.conftest import METRICS


def test_metrics_study_shows_correlations(rated: Path, run: Run) -> None:
    outcome = run("study", "metrics", rated, *METRICS, "--statistic", "spearman", "--format", "json")
    assert outcome.code == 0, outcome
    expected = studies.metric_correlations(rated, ["bleu-1", "cider-d"], statistic="spearman")
    assert outcome.json["records"] == [dict(record) for record in expected.records]
    assert outcome.json["records"][0]["people"] > 0


def test_invalid_options_of_the_metrics_study_are_refused(rated: Path, run: Run) -> None:
    assert_refused(run("study", "metrics", rated, "-m", "blue"), "no metric 'blue'")
