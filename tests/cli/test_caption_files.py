"""``--columns`` and ``--split``, on every command that reads captions."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, assert_refused

LAYOUTS = Path(__file__).parents[1] / "data" / "layouts"


@pytest.fixture
def renamed(folder: Path) -> Path:
    """The folder of examples, with the improved system and the references in csv under other names."""
    improved = json.loads((folder / "improved.json").read_text())
    references = json.loads((folder / "references.json").read_text())
    with open(folder / "improved.csv", "w", newline="") as file:
        csv.writer(file).writerows([("key", "text"), *((row["image_id"], row["caption"]) for row in improved)])
    with open(folder / "references.csv", "w", newline="") as file:
        rows = [(image, text) for image, texts in references.items() for text in texts]
        csv.writer(file).writerows([("key", "human"), *rows])
    return folder


def test_columns_of_one_side_or_of_both(renamed: Path, run: Run) -> None:
    arguments = ("-m", "rouge-l", "--format", "json")
    expected = run("score", "improved.json", "references.json", *arguments).out
    names = "id=key,caption=text"
    assert run("score", "improved.csv", "references.json", "--columns", names, *arguments).out == expected
    names = "id=key,candidate=text,references=human"
    assert run("score", "improved.csv", "references.csv", "--columns", names, *arguments).out == expected


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "baseline.json", "improved.csv", "references.json", "-m", "rouge-l", "--resamples", "10"),
        ("report", "improved.csv", "references.json", "-m", "rouge-l", "-o", "page.html"),
        ("prepare", "improved.csv", "-m", "rouge-l", "-o", "x.prepared"),
        ("fit", "cider-d", "improved.csv", "-o", "x.json"),
        ("parse", "improved.csv", "-o", "x.jsonl"),
        ("check", "improved.csv", "references.json"),
        ("explain", "rouge-l", "improved.csv", "references.json", "--worst", "1"),
        ("study", "timing", "improved.csv", "references.json", "-m", "rouge-l", "--repeats", "1"),
    ],
)
def test_columns_of_other_commands(renamed: Path, run: Run, arguments: tuple[str, ...]) -> None:
    outcome = run(*arguments, "--columns", "id=key,caption=text")
    assert outcome.code == 0, outcome.err
    assert_refused(run(*arguments, "--columns", "id=key,caption=txet"), "there is no column 'txet'")


def test_split_selects_part_of_a_data_set(tmp_path: Path, run: Run) -> None:
    candidates = tmp_path / "candidates.json"
    candidates.write_text('{"COCO_val2014_000000391895.jpg": "a baker", "COCO_val2014_000000522418.jpg": "two girls"}')
    arguments = ("score", str(candidates), str(LAYOUTS / "dataset_coco.json"), "-m", "rouge-l", "--format", "json")
    assert_refused(run(*arguments, "--split", "test"), "--ids integer")
    assert run(*arguments, "--split", "test", "--ids", "integer").json["systems"][0]["n_images"] == 2
    assert_refused(run(*arguments), "3 splits, and none was chosen", "--split NAME")
    assert_refused(run(*arguments, "--split", "tset"), "there is no split 'tset'", "test (2)")


def test_groups_of_the_same_columns(renamed: Path, run: Run) -> None:
    arguments = ("score", "improved.csv", "references.json", "-m", "rouge-l", "--columns", "id=key,caption=text")
    outcome = run(*arguments, "--group-by", "text")
    assert outcome.code == 0, outcome.err
