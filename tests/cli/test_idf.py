"""captious idf"""

from __future__ import annotations

from pathlib import Path

import pytest

import captious

from .conftest import Run, assert_refused


def test_build(folder: Path, run: Run) -> None:
    outcome = run("idf", "build", "references.json", "-o", "own.idf")
    assert (outcome.code, outcome.out) == (0, "")
    frequencies = captious.DocumentFrequencies.load(folder / "own.idf")
    assert frequencies.n_documents == 24
    assert frequencies.tokenizer == "ptb"
    assert outcome.err == f"own.idf: {len(frequencies.counts):,} n-grams of 24 images\n"


def test_the_same_references_give_the_same_bytes(folder: Path, run: Run) -> None:
    run("idf", "build", "references.json", "-o", "one.idf")
    run("idf", "build", "references.json", "-o", "two.idf")
    assert (folder / "one.idf").read_bytes() == (folder / "two.idf").read_bytes()


def test_tokenizer(folder: Path, run: Run) -> None:
    run("idf", "build", "references.json", "-o", "own.idf", "--tokenizer", "whitespace")
    assert (
        "tokens: whitespace" in run("score", "baseline.json", "references.json", "-m", "cider", "--idf", "own.idf").out
    )
    outcome = run(
        *("score", "baseline.json", "references.json", "-m", "cider", "--idf", "own.idf", "--tokenizer", "ptb")
    )
    assert_refused(outcome, "counted with the tokenizer whitespace, not ptb", "--tokenizer whitespace")


def test_no_output_is_a_usage_error(folder: Path, run: Run) -> None:
    assert_refused(run("idf", "build", "references.json"), "--output", "captious idf build --help")


def test_the_references_are_never_overwritten(folder: Path, run: Run) -> None:
    before = (folder / "references.json").read_bytes()
    assert_refused(run("idf", "build", "references.json", "-o", "references.json"), "references.json")
    assert (folder / "references.json").read_bytes() == before


def test_a_folder_that_does_not_exist(folder: Path, run: Run) -> None:
    assert_refused(run("idf", "build", "references.json", "-o", "none/own.idf"), "cannot write none/own.idf")


@pytest.mark.parametrize("name", ["references.json", "none.idf"])
def test_a_file_that_holds_no_frequencies(folder: Path, run: Run, name: str) -> None:
    outcome = run("score", "baseline.json", "references.json", "-m", "cider-d", "--idf", name)
    assert_refused(outcome, name, "captious idf build")


def test_candidates_in_place_of_references_are_noticed(folder: Path, run: Run) -> None:
    outcome = run("idf", "build", "baseline.json", "-o", "own.idf")
    assert outcome.code == 0
    assert "warning: every image has one caption only: are these the references" in outcome.err
