"""captious study robustness"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from captious.judgment import studies
from tests.cli.conftest import Run, assert_refused
from tests.cli.study.conftest import METRICS


def test_robustness_study_shows_areas(folder: Path, run: Run) -> None:
    arguments = ("study", "robustness", "references.json", *METRICS, "--strengths", "0.5,1", "--seed", 3)
    outcome = run(*arguments, "--sample", 10, "--resamples", 20, "--format", "csv")
    assert outcome.code == 0, outcome
    rows = list(csv.DictReader(io.StringIO(outcome.out)))
    expected = studies.robustness(
        folder / "references.json", ["bleu-1", "cider-d"], sample=10, strengths=[0.5, 1], resamples=20, seed=3
    )
    assert [float(row["area"]) for row in rows] == [record["area"] for record in expected.records]
    assert len(rows) == 6
    assert all(row["signature"] for row in rows)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("references.json", "--strengths", "0.5,2"), ("2 is not a valid strength",)),
        (("references.json", "--sample", "1"), ("--sample",)),
        (("none.json",), ("no such file", "none.json")),
    ],
)
def test_invalid_options_of_the_robustness_study_are_refused(
    folder: Path, run: Run, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    assert_refused(run("study", "robustness", *arguments, "-m", "bleu-1"), *parts)
