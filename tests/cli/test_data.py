"""captious data: benchmarks listed, judged items written."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import captious
from tests.cli.conftest import Run, assert_refused, plain_environment


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that the test runs in; no folder of data is named."""
    monkeypatch.delenv("CAPTIOUS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_lone_surrogate_is_refused_with_its_place(nothing: Path, run: Run) -> None:
    good = '{"candidate": "a dog", "references": ["x"], "rating": 1}\n'
    for bad in (
        '{"candidate": "a \\ud800", "references": ["x"], "rating": 2}\n',
        '{"candidate": "a", "references": ["x", "\\udcff"], "rating": 2}\n',
        '{"candidate": "a", "references": ["x"], "part": "\\udcff", "rating": 2}\n',
    ):
        (nothing / "own.jsonl").write_text(good + bad)
        for form in ("jsonl", "csv"):
            assert_refused(run("data", "items", "own.jsonl", "--format", form), "surrogate", "own.jsonl, line 2")


def test_characters_outside_the_locale_are_printed(nothing: Path, command: list[str]) -> None:
    (nothing / "own.jsonl").write_text(
        '{"candidate": "a 🐕", "references": ["é"], "rating": 1}\n'
        '{"candidate": "b", "references": ["c"], "rating": 2}\n',
        encoding="utf-8",
    )
    environment = {**plain_environment(), "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([*command, "data", "items", "own.jsonl"], capture_output=True, env=environment, check=True)
    assert json.loads(done.stdout.splitlines()[0]) == {"id": "1", "candidate": "a 🐕", "references": ["é"]}


def test_list_shows_what_is_found_and_what_is_missing(nothing: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that is named, or in that of the environment."""
    for name in ("composite/composite.jsonl", "flickr8k/crowdflower.jsonl.gz"):
        (nothing / name).parent.mkdir()
        (nothing / name).touch()
    named = run("data", "list", "--data", nothing)
    monkeypatch.setenv("CAPTIOUS_DATA", str(nothing))
    assert (named.code, named.err) == (0, "")
    assert run("data", "list").out == named.out
    assert named.out.splitlines()[0] == f"data: {nothing}"
    rows = [line.split() for line in named.out.splitlines()]
    assert ["found", "composite/composite.jsonl"] in rows
    in_part = ["flickr8k/crowdflower.jsonl", "flickr8k/crowdflower_refs.json", "(flickr8k/crowdflower.jsonl"]
    assert ["missing", *in_part, "was", "found)"] in rows
    assert ["missing", "abstract50s/consensus_abstract.mat"] in rows


class TestItems:
    def test_items_scored_elsewhere_can_be_judged(self, nothing: Path, run: Run) -> None:
        """Scores of the items that were computed elsewhere give the result of the metric."""
        lines = [
            {"better": "a dog runs", "worse": "a cat", "references": ["a dog is running", "a dog"]},
            {"better": "a bus", "worse": "a red bus on a street", "references": ["a bus on a street"]},
        ]
        Path("pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert run("data", "items", "pairs.jsonl", "-o", "items.jsonl").out == ""
        items = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
        assert len(items) == 4
        report = captious.score([i["candidate"] for i in items], [i["references"] for i in items], ["rouge-l"])
        scores = dict(zip([i["id"] for i in items], report["rouge-l"].per_caption.tolist(), strict=True))
        Path("scores.json").write_text(json.dumps({"pairs": {"elsewhere": scores}}))
        arguments = ["judge", "pairs.jsonl", "-m", "rouge-l", "--scores", "scores.json", "--format", "json"]
        results = run(*arguments).json["benchmarks"][0]["results"]
        assert results["elsewhere"]["value"] == results["rouge-l"]["value"] == 0.5

    def test_items_of_a_benchmark_of_systems_are_systems(self, shared_data: Path, run: Run) -> None:
        items = run("data", "items", "coco-2015", "--data", shared_data).out.splitlines()
        assert len(items) == 10
        assert {"id": "Google"} in map(json.loads, items)
        first = json.loads(run("data", "items", "conll14-gec", "--data", shared_data).out.splitlines()[0])
        assert first["id"] == "AMU"
        assert len(first["captions"]) == 1312


def test_items_without_references_have_none(nothing: Path, run: Run) -> None:
    """Rather than an empty one, which other software would score against."""
    lines = [{"candidate": text, "references": [], "rating": n} for n, text in enumerate(["a dog", "a cat", "a bus"])]
    (nothing / "own.jsonl").write_text("\n".join(map(json.dumps, lines)))
    written = [json.loads(line) for line in run("data", "items", "own.jsonl").out.splitlines()]
    assert written[0] == {"id": "1", "candidate": "a dog"}
    assert run("data", "items", "own.jsonl", "--format", "csv").out.splitlines()[:2] == ["id,candidate", "1,a dog"]
