"""--several of captious score and captious compare."""

from __future__ import annotations

import json
from pathlib import Path

import captious
from tests.cli.conftest import Run, assert_refused

FILES = ("beams.json", "samples.json", "references.json")


def test_several_candidates_are_scored(folder: Path, run: Run) -> None:
    options = ("-m", "div", "-m", "mbleu-4", "-m", "rouge-l", "--several", "best", "--several", "mean")
    document = run("score", *FILES, *options, "--format", "json").json
    for system, file in zip(document["systems"], FILES, strict=False):
        metrics = ["div", "mbleu-4", "rouge-l"]
        report = captious.score(file, FILES[2], metrics, several=("mean", "best"))
        assert {name: result["score"] for name, result in system["metrics"].items()} == {
            name: result.score for name, result in report.items()
        }
        assert system["description"] == report.description.to_dict()
    assert document["systems"][0]["metrics"]["mbleu-4"]["lower_is_better"]


def test_the_next_command_repeats_the_options(folder: Path, run: Run) -> None:
    outcome = run("score", *FILES, "-m", "rouge-l", "--several", "best", "--several", "mean")
    assert "captious compare beams.json" in outcome.err
    assert "--several best --several mean" in outcome.err


def test_no_candidate_is_the_best_by_its_length(folder: Path, run: Run) -> None:
    document = run("score", *FILES, "--several", "best", "-m", "length", "-m", "rouge-l", "--format", "json")
    assert list(document.json["systems"][0]["metrics"]) == ["length-words", "length-relative", "rouge-l:of-k=best"]


def test_compare_with_examples_and_groups(folder: Path, run: Run) -> None:
    outcome = run("compare", *FILES, "--several", "mean", "-m", "div-1", "--resamples", 50, "--examples", 1)
    assert outcome.code == 0
    assert " | " in outcome.out
    grouped = run("score", *FILES, "--several", "mean", "-m", "div-1", "--group-by", "length", "--format", "json")
    assert grouped.code == 0


def test_novel_uses_training_captions(folder: Path, run: Run) -> None:
    options = ("--several", "mean", "-m", "novel", "--training", "samples.json", "--format", "json")
    first, second = run("score", *FILES, *options).json["systems"]
    assert (first["metrics"]["novel"]["score"], second["metrics"]["novel"]["score"]) == (1.0, 0.0)
    assert second["description"]["novel_distinct"] == 0.0


def test_invalid_options_for_several_candidates_are_refused(folder: Path, run: Run) -> None:
    assert_refused(run("score", *FILES, "-m", "rouge-l"), "more than one candidate", "--several")
    assert_refused(run("score", "improved.json", FILES[2], "-m", "div"), "judges several candidates", "--several")
    assert_refused(run("score", *FILES, "-m", "rouge-l", "--several", "worst"), "worst")
    uneven = {**json.loads(Path(FILES[0]).read_text()), "1207": ["a man"]}
    Path("uneven.json").write_text(json.dumps(uneven))
    assert_refused(run("score", "uneven.json", FILES[2], "--several", "mean", "-m", "mbleu"), "mbleu@mean")


def test_caption_scores_list_several_candidates(folder: Path, run: Run) -> None:
    run("score", *FILES, "--several", "mean", "-m", "div-1", "--per-caption", "scores.jsonl")
    row = json.loads(Path("scores.jsonl").read_text().splitlines()[0])
    assert row["system"] == "beams"
    assert len(row["candidates"]) == 3
