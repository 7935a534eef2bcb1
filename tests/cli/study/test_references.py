"""captious study references"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captious.errors import shown_in
from captious.judgment import studies
from tests.cli.conftest import Run, assert_refused
from tests.cli.study.conftest import METRICS


def test_references_study_shows_agreement_by_count(rated: Path, run: Run) -> None:
    outcome = run("study", "references", rated, *METRICS, "--counts", "1, 3", "--draws", 2, "--format", "json")
    assert outcome.code == 0, outcome
    study = outcome.json
    expected = studies.reference_counts(rated, ["bleu-1", "cider-d"], [1, 3], draws=2)
    assert study == json.loads(json.dumps(shown_in(expected.to_dict(), "command line")))
    assert [(r["metric"], r["references"]) for r in study["records"]] == [
        (metric, count) for metric in ("bleu-1", "cider-d") for count in (1, 3)
    ]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("rated.jsonl", "--counts", "1,x"), ("'1,x' is not a list of numbers", "1,2,5")),
        (("rated.jsonl", "--counts", "9", "-m", "bleu-1"), ("9 references",)),
        (("nothing", "-m", "bleu-1"), ("no benchmark 'nothing'",)),
    ],
)
def test_invalid_options_of_the_references_study_are_refused(
    rated: Path, run: Run, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    assert_refused(run("study", "references", *arguments), *parts)
