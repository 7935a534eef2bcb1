"""Errors have three parts, the problem, its place and a remedy, and exit status 2."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run, assert_refused


def test_debug_shows_the_traceback(folder: Path, start: Run) -> None:
    outcome = start("--debug", "score", "none.json", "references.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert "Traceback" in outcome.err
    assert "CaptionFileError" in outcome.err
    assert "help: " in outcome.err


def test_debug_option_works_after_the_command(folder: Path, run: Run) -> None:
    outcome = run("score", "none.json", "references.json", "--debug")
    assert (outcome.code, outcome.out) == (2, "")
    assert "Traceback" in outcome.err
    assert "none.json" in outcome.err


def test_errors_of_a_process_have_no_traceback(folder: Path, start: Run) -> None:
    outcome = start("score", "none.json", "references.json", "-m", "rouge-l")
    assert_refused(outcome, "no such file", "none.json")
    assert "\x1b" not in outcome.err


@pytest.mark.parametrize("number", ["four", "0", "-1", "1.5", str(10**20)])
def test_invalid_number_of_threads_is_refused(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    monkeypatch.setenv("CAPTIOUS_THREADS", number)
    outcome = run("score", "baseline.json", "references.json", "-m", "rouge-l")
    assert_refused(outcome, "CAPTIOUS_THREADS", f"'{number}'", "1 to 1,024")


def test_loop_of_links_as_output_is_refused(folder: Path, run: Run) -> None:
    (folder / "loop.json").symlink_to("loop.json")
    assert_refused(run("score", "loop.json", "references.json", "-m", "rouge-l"), "loop.json")
    assert_refused(run("score", "baseline.json", "references.json", "-m", "rouge-l", "-o", "loop.json"), "loop.json")


def test_too_long_file_name_is_refused(folder: Path, run: Run) -> None:
    name = "n" * 300 + ".csv"
    assert_refused(run("score", name, "references.json", "-m", "rouge-l"), name)
    outcome = run("score", "baseline.json", "references.json", "-m", "rouge-l", "-o", name)
    assert_refused(outcome, f"cannot write {name}")


def test_file_name_that_is_not_utf_8_is_shown(folder: Path, run: Run) -> None:
    """Names of files are bytes, but output is UTF-8."""
    name = os.fsdecode(b"caf\xe9.json")
    (folder / "baseline.json").rename(name)
    outcome = run("score", name, "references.json", "-m", "rouge-l", "--format", "json", "-o", "out.json")
    assert outcome.code == 0
    assert json.loads((folder / "out.json").read_bytes())["systems"][0]["name"].startswith("caf")
