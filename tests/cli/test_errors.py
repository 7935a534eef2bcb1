"""Errors have three parts, the problem, its place and a remedy, and exit status 2."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run, assert_refused


def write(folder: Path, name: str, content: object) -> str:
    """Return a file in the folder: bytes and text as they are, anything else as JSON."""
    data = (
        content
        if isinstance(content, bytes)
        else (content if isinstance(content, str) else json.dumps(content)).encode()
    )
    (folder / name).write_bytes(data)
    return name


RECORD = {"image_id": 1207, "caption": "a cat"}

BROKEN: dict[str, tuple[str, object, tuple[str, ...]]] = {
    "no such file": ("none.json", None, ("no such file", "none.json")),
    "empty": ("x.json", b"", ("empty", "x.json")),
    "truncated": ("x.json", '[{"image_id": 1207, "cap', ("is truncated", "x.json: line 1")),
    "not json": ("x.json", "[1, oops]", ("not JSON", "line 1")),
    "latin-1": ("x.json", '[{"image_id": 1207, "caption": "caf\xe9"}]'.encode("latin-1"), ("not UTF-8", "0xe9")),
    "duplicate": ("x.json", [RECORD, RECORD], ("more than one candidate", "image_id 1207 in record 1, record 2")),
    "number for a caption": ("x.json", [{"image_id": 1207, "caption": 3}], ("not text", "image_id 1207", "3")),
    "null for a caption": ("x.json", [{"image_id": 1207, "caption": None}], ("not text", "null")),
    "NaN for a caption": ("x.json", '[{"image_id": 1207, "caption": NaN}]', ("not text", "NaN")),
    "an object for a caption": ("x.json", [{"image_id": 1207, "caption": {"a": 1}}], ("x.json: record 1", "{'a': 1}")),
    "fraction for an id": (
        "x.json",
        [{"image_id": 1207.5, "caption": "a"}],
        ("another type than integer or string", "1207.5"),
    ),
    "true for an id": ("x.json", [{"image_id": True, "caption": "a"}], ("another type than integer or string", "true")),
    "lists in lists": ("x.json", [[RECORD]], ("not an object", "x.json: record 1")),
    "no caption": ("x.json", [{"image_id": 1207}], ("missing field for candidates", "x.json")),
    "a string": ("x.json", '"a cat"', ("neither an object nor a list", "x.json")),
    "unknown image": ("x.json", [{"image_id": 5, "caption": "a"}], ("references", "image_id 5")),
    "lone surrogate": ("x.json", '[{"image_id": 1207, "caption": "\\ud83d"}]', ("lone surrogate", "record 1")),
    "other extension": ("x.doc", "a cat", ("'.doc' is not the extension", ".jsonl")),
    "not gzip": ("x.json.gz", b"[]", ("not gzip", "x.json.gz")),
    "cut gzip": ("x.json.gz", gzip.compress(b"[" + b" " * 999)[:-9], ("is truncated", "x.json.gz")),
    "csv without columns": ("x.csv", "a,b\n1,2\n", ("missing field for image ids", "'a', 'b'")),
    "a line of jsonl": ("x.jsonl", json.dumps(RECORD) + "\noops\n" + json.dumps(RECORD), ("not JSON", "line 2")),
}


@pytest.mark.parametrize("case", BROKEN)
def test_malformed_candidates_are_an_error_with_line(folder: Path, run: Run, case: str) -> None:
    name, content, parts = BROKEN[case]
    if content is not None:
        write(folder, name, content)
    assert_refused(run("score", name, "references.json", "-m", "rouge-l"), *parts)


def test_directory_instead_of_a_file_is_refused(folder: Path, run: Run) -> None:
    (folder / "d.json").mkdir()
    assert_refused(run("score", "d.json", "references.json"), "directory", "d.json")


def test_missing_reference_file_is_named(folder: Path, run: Run) -> None:
    write(folder, "few.json", {"1207": ["a cat", "the cat"]})
    assert_refused(
        run("score", "baseline.json", "few.json", "-m", "rouge-l"), "23 of 24 candidates", "--match", "common"
    )


def test_images_without_candidates_are_named(folder: Path, run: Run) -> None:
    write(folder, "few.json", [RECORD])
    assert_refused(run("score", "few.json", "references.json"), "23 of 24 images", "image_id 1315", "--match", "common")


@pytest.mark.parametrize("metric", ["nope", "", "@paper", "BLEU-5", "bleu-4@nope"])
def test_unknown_metric_gets_a_suggestion(folder: Path, run: Run, metric: str) -> None:
    assert_refused(run("score", "baseline.json", "references.json", "-m", metric))


def test_output_in_a_missing_folder_is_refused(folder: Path, run: Run) -> None:
    outcome = run("score", "baseline.json", "references.json", "-m", "rouge-l", "-o", "none/out.txt")
    assert_refused(outcome, "cannot write none/out.txt", "folder that exists")


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_standard_input_is_scored(folder: Path, start: Run, name: str) -> None:
    captions = (folder / "baseline.json").read_bytes()
    outcome = start("score", name, "references.json", "-m", "rouge-l", "--format", "json", input=captions)
    assert outcome.code == 0, outcome
    (system,) = outcome.json["systems"]
    (by_name,) = start("score", "baseline.json", "references.json", "-m", "rouge-l", "--format", "json").json["systems"]
    assert system == by_name | {"name": "standard input"}


@pytest.mark.parametrize(
    "arguments",
    [["score"], ["score", "a", "b", "--nope"], ["score", "a", "b", "-m"], ["compare", "a"]],
)
def test_usage_errors_exit_with_status_2(run: Run, arguments: list[str]) -> None:
    outcome = run(*arguments)
    assert_refused(outcome, f"\n  captious {arguments[0]} [OPTIONS] ", f"\n  help: captious {arguments[0]} --help")
    assert outcome.err.startswith("error: ")


@pytest.mark.parametrize("command", [["score"], ["study", "smurf"]])
def test_single_file_is_a_usage_error(run: Run, command: list[str]) -> None:
    outcome = run(*command, "references.json")
    assert_refused(outcome, "only one file was given", "help: give at least one file of candidates")


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


def test_a_wrapped_results_file_is_read(folder: Path, run: Run) -> None:
    write(folder, "x.json", {"model": "m", "predictions": json.loads((folder / "baseline.json").read_text())})
    scores = [run("score", name, "references.json", "-m", "rouge-l").out for name in ("x.json", "baseline.json")]
    assert scores[0].split()[-1] == scores[1].split()[-1]


def test_ids_of_both_types_in_one_file_are_read(folder: Path, run: Run) -> None:
    records = json.loads((folder / "baseline.json").read_text())
    for record in records[::2]:
        record["image_id"] = str(record["image_id"])
    write(folder, "x.json", records)
    assert run("score", "x.json", "references.json", "-m", "rouge-l").code == 0


@pytest.mark.parametrize("number", ["four", "0", "-1", "1.5"])
def test_invalid_number_of_threads_is_refused(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    monkeypatch.setenv("CAPTIOUS_THREADS", number)
    outcome = run("score", "baseline.json", "references.json", "-m", "rouge-l")
    assert_refused(outcome, "CAPTIOUS_THREADS", f"'{number}'")


def test_excessive_number_of_threads_is_refused(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_THREADS", str(10**20))
    outcome = run("score", "baseline.json", "references.json", "-m", "rouge-l")
    assert_refused(outcome, "CAPTIOUS_THREADS", "1 to 1,024")


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
