"""captious score --shards"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run, assert_refused, plain_environment
from tests.scale.conftest import example_rows, write
from tests.support.tables import tables


@pytest.fixture
def sharded(folder: Path) -> Path:
    """The folder of examples, with the improved system in three shards, too."""
    rows = example_rows()
    for number in range(3):
        write(folder / f"improved-{number}.jsonl", rows[number * 8 : number * 8 + 8])
    (folder / "notes.txt").touch()
    return folder


def of_score(run: Run, *options: str) -> str:
    """Return the output of score for the same captions in one file."""
    return run("score", "improved.json", "references.json", *options).out.replace('"improved"', '"improved-*"')


@pytest.mark.parametrize("options", [(), ("--references-as", "cat"), ("--idf", "coco"), ("--threads", "1")])
def test_sharded_scores_have_the_json_of_score(sharded: Path, run: Run, options: tuple[str, ...]) -> None:
    arguments = ("-m", "bleu", "-m", "rouge-l", "-m", "cider-d", "--format", "json", *options)
    outcome = run("score", "--shards", "improved-*.jsonl", *arguments)
    assert outcome.code == 0, outcome.err
    assert outcome.out == of_score(run, *arguments)
    assert ("--idf" in options) or "only 24" in outcome.err


#: Each line is written at once, as processes print side by side.
PRINTING = r"""print('loaded\n', end='')
def long(candidate, references):
    print('called\n', end='')
    return 1
"""


@pytest.mark.parametrize(
    "files",
    ["improved.json references.json", "--shards improved-*.jsonl", "--shards improved-*.jsonl --engine processes"],
)
def test_what_functions_print_goes_to_stderr(sharded: Path, files: str) -> None:
    (sharded / "mine.py").write_text(PRINTING)
    command = ["captious", "score", *files.split(), "-m", "mine.py:long", "--format", "json"]
    done = subprocess.run(command, cwd=sharded, env=plain_environment(), capture_output=True, text=True)
    assert json.loads(done.stdout)["systems"][0]["metrics"]["long"]["score"] == 1
    assert "loaded\n" in done.stderr
    assert done.stderr.count("called\n") == 24


def test_shards_with_other_columns_and_intervals_are_scored(sharded: Path, run: Run) -> None:
    write(
        sharded / "other.parquet",
        [{"key": r["id"], "text": r["candidate"], "refs": r["references"]} for r in example_rows()],
    )
    line = "score --shards other.parquet --columns id=key,candidate=text -m rouge-l --ci --format json"
    outcome = run(*line.split())
    (result,) = outcome.json["systems"][0]["metrics"].values()
    assert result["ci95"][0] < result["score"] < result["ci95"][1]
    assert outcome.json["systems"][0]["name"] == "other"
    assert outcome.json["systems"][0]["intervals"] == "normal approximation of the bootstrap over captions"
    assert "intervals of shards need about 1,000 captions, and there are 24" in outcome.err


def test_shards_use_separate_references(sharded: Path, run: Run) -> None:
    arguments = ("-m", "cider-d", "--format", "json")
    rows = [{"id": row["id"], "candidate": row["candidate"]} for row in example_rows()]
    write(sharded / "improved-x.jsonl", rows)
    outcome = run("score", "--shards", "improved-x*", "references.json", *arguments)
    assert outcome.out.replace("improved-x*", "improved-*") == of_score(run, *arguments)


def test_shards_of_some_images_are_refused(sharded: Path, run: Run) -> None:
    outcome = run("score", "--shards", "improved-[01].jsonl", "references.json", "-m", "cider-d")
    assert_refused(outcome, "8 of 24 images have references but no candidate", "references of these alone")


def test_functions_in_files_are_scored_in_other_processes(sharded: Path, run: Run) -> None:
    (sharded / "own.py").write_text("def length(candidate, references):\n    return len(candidate)\n")
    line = "score --shards improved-*.jsonl -m own.py:length --format json"
    outcome = run(*line.split(), "--engine", "processes", "--workers", "1")
    assert outcome.code == 0, outcome.err
    assert outcome.out == run(*line.split()).out


def test_shards_write_a_folder_of_results(sharded: Path, run: Run) -> None:
    line = "score --shards improved-*.jsonl -m bleu -m cider-d --format json -o out --per-caption captions"
    arguments = line.split()
    first = run(*arguments)
    assert first.out == of_score(run, "-m", "bleu", "-m", "cider-d", "--format", "json")
    assert json.loads((sharded / "out" / "scores.json").read_text()) == first.json
    assert len([*(sharded / "captions").iterdir()]) == 3
    assert run(*arguments).out == first.out
    refused = run("score", "--shards", "improved-*.jsonl", "-m", "rouge-l", "-o", "out")
    assert_refused(refused, "another run", "other metrics: only then bleu-1", "another folder")


def test_a_pattern_of_all_files_is_called_as_the_folder(sharded: Path, run: Run) -> None:
    (sharded / "mine").mkdir()
    for file in sharded.glob("improved-*.jsonl"):
        file.rename(sharded / "mine" / file.name)
    arguments = ("-m", "bleu-4", "--format", "json")
    assert run("score", "--shards", "mine/*.jsonl", *arguments).json["systems"][0]["name"] == "mine"
    assert run("score", "--shards", "mine/**", *arguments).json["systems"][0]["name"] == "mine"


@pytest.mark.parametrize(("arguments", "message"), tables(__file__)["refused"])
def test_invalid_shard_options_are_refused(sharded: Path, run: Run, arguments: tuple[str, ...], message: str) -> None:
    assert_refused(run("score", *arguments, "-m", "rouge-l"), message)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["stream", pytest.param("processes", marks=pytest.mark.nightly)])
def test_interrupted_run_of_shards_resumes(tmp_path: Path, command: list[str], engine: str) -> None:
    rows = [{**row, "id": turn * 24 + i} for turn in range(400) for i, row in enumerate(example_rows())]
    for number in range(40):
        write(tmp_path / f"part-{number:02}.jsonl", rows[number * 240 : number * 240 + 240])
    line = [*command, "score", "--shards", "part-*.jsonl", "-m", "cider-d", "-m", "rouge-s", "--format", "json"]
    whole = subprocess.run(line, cwd=tmp_path, env=plain_environment(), capture_output=True, check=True).stdout
    line += ["-o", "out", "--engine", engine, "--batch-rows", "8"]
    process = subprocess.Popen(
        line, cwd=tmp_path, env=plain_environment(), stderr=subprocess.PIPE, start_new_session=True
    )
    deadline = time.time() + 300
    while len([*tmp_path.glob("out/sums/*.json")]) < 3 and process.poll() is None and time.time() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, message = process.communicate(timeout=300)
    assert (process.returncode, message) == (130, b"interrupted\n")
    assert 3 <= len([*tmp_path.glob("out/sums/*.json")]) < 40
    done = subprocess.run(line, cwd=tmp_path, env=plain_environment(), capture_output=True, check=True).stdout
    assert done == whole
