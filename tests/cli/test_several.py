"""--several of captious score and captious compare."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run, assert_refused

FILES = ("beams.json", "samples.json", "references.json")


def test_the_next_command_repeats_the_options(folder: Path, run: Run) -> None:
    outcome = run("score", *FILES, "-m", "rouge-l", "--several", "best", "--several", "mean")
    assert "captious compare beams.json" in outcome.err
    assert "--several best --several mean" in outcome.err


def test_no_candidate_is_the_best_by_its_length(folder: Path, run: Run) -> None:
    document = run("score", *FILES, "--several", "best", "-m", "length", "-m", "rouge-l", "--format", "json")
    assert list(document.json["systems"][0]["metrics"]) == ["length-words", "length-relative", "rouge-l:of-k=best"]


def test_uneven_numbers_of_candidates_are_refused(folder: Path, run: Run) -> None:
    uneven = {**json.loads(Path(FILES[0]).read_text()), "1207": ["a man"]}
    Path("uneven.json").write_text(json.dumps(uneven))
    assert_refused(run("score", "uneven.json", FILES[2], "--several", "mean", "-m", "mbleu"), "mbleu@mean")


def test_compare_with_examples_and_groups(folder: Path, run: Run) -> None:
    outcome = run("compare", *FILES, "--several", "mean", "-m", "div-1", "--resamples", 50, "--examples", 1)
    assert outcome.code == 0
    assert " | " in outcome.out
    grouped = run("score", *FILES, "--several", "mean", "-m", "div-1", "--group-by", "length", "--format", "json")
    assert grouped.code == 0
