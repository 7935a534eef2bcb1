"""captious study failures"""

from __future__ import annotations

from pathlib import Path

from captious.judgment import studies
from tests.cli.conftest import Run, assert_refused
from tests.cli.study.conftest import METRICS


def test_failures_command_agrees_with_the_python_function(rated: Path, run: Run) -> None:
    outcome = run("study", "failures", rated, *METRICS, "--gap", 1)
    assert outcome.code == 0, outcome
    (record, _) = studies.critical_failures(rated, ["bleu-1", "cider-d"], gap=1).records
    line = next(line.split() for line in outcome.out.splitlines() if line.strip().startswith("bleu-1"))
    assert line[:4] == ["bleu-1", *(str(record[key]) for key in ("pairs", "failures", "ties"))]
    assert "gap 1" in outcome.out
    assert "cider-d|variant:official" in outcome.out


def test_invalid_options_of_the_failures_study_are_refused(rated: Path, run: Run) -> None:
    assert_refused(run("study", "failures", rated, "--gap", "0"), "--gap")
