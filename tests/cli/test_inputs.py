"""Files of captions: one set of options for every command that reads them, NAME=FILE, lists of metrics."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import click
import pytest

from tests.cli.conftest import Run, assert_refused
from tests.support.commands import COMMANDS

PAIR = ("baseline.json", "references.json")
#: Commands that read captions.
READERS = [
    " ".join(words)
    for words, command in COMMANDS.items()
    if {"candidate", "candidates", "references", "files", "systems"} & {parameter.name for parameter in command.params}
]


def options_of(path: str) -> dict[str, Any]:
    options = (option for option in COMMANDS[*path.split()].params if isinstance(option, click.Option))
    return {option.opts[0]: option.to_info_dict() for option in options}


@pytest.mark.parametrize("path", READERS)
def test_every_command_that_reads_captions_has_the_same_options(path: str) -> None:
    options, expected = options_of(path), options_of("score")
    for flag in ("--from", "--columns", "--split"):
        assert options[flag] == expected[flag], flag


@pytest.mark.parametrize("path", ["check", "compare", "explain", "report", "judge-pairwise", "learn features"])
def test_options_of_matching_are_those_of_score(path: str) -> None:
    options, expected = options_of(path), options_of("score")
    for flag in {"--match", "--clean", "--several"} & {*options}:
        assert options[flag] == expected[flag], flag
    assert "--match" in options
    assert "--clean" in options or path.startswith("learn")


class TestNames:
    """NAME=FILE names a system everywhere."""

    def test_systems_are_scored_under_their_names(self, folder: Path, run: Run) -> None:
        outcome = run("score", "mine=baseline.json", "improved.json", "references.json", "-m", "bleu-1")
        assert outcome.out.split("\n\n")[1].split()[:2] == ["mine", "improved"]
        assert "captious compare mine=baseline.json improved.json references.json" in outcome.err

    def test_names_may_look_like_paths_and_patterns(self, folder: Path, run: Run) -> None:
        systems = ["LLaVA-1.5/7B=baseline.json", "*b?=improved.json"]
        outcome = run("score", *systems, "references.json", "-m", "bleu-1")
        assert outcome.out.split("\n\n")[1].split()[:2] == ["LLaVA-1.5/7B", "*b?"]
        assert "no such file" in run("score", "a/b=missing.json", "references.json", "-m", "bleu-1").err

    @pytest.mark.parametrize(
        "call",
        [
            ["check", "mine=baseline.json", "references.json"],
            ["compare", "mine=baseline.json", "improved.json", "references.json", "-m", "bleu-1", "--resamples", "9"],
            ["study", "distributions", "mine=baseline.json", "references.json", "-m", "bleu-1"],
            ["study", "rules", "references.json", "--system", "mine=baseline.json"],
        ],
        ids=lambda call: " ".join(call[:2]),
    )
    def test_name_is_shown(self, folder: Path, run: Run, call: list[str]) -> None:
        outcome = run(*call)
        assert "mine" in outcome.out + outcome.err, outcome

    def test_name_is_on_the_page(self, folder: Path, run: Run) -> None:
        assert run("report", "mine=baseline.json", "references.json", "-m", "bleu-1", "-o", "page.html").code == 0
        assert ">mine<" in (folder / "page.html").read_text()

    def test_explained_file_may_have_a_name(self, folder: Path, run: Run) -> None:
        plain = run("explain", "bleu", "--worst", "1", *PAIR)
        assert plain.code == 0
        assert run("explain", "bleu", "--worst", "1", "mine=baseline.json", "references.json") == plain

    def test_shards_may_have_a_name(self, folder: Path, run: Run) -> None:
        (folder / "part-1.jsonl").write_text(json.dumps({"id": 1, "candidate": "a cat", "references": ["a cat"]}))
        outcome = run("score", "--shards", "mine=part-*.jsonl", "-m", "bleu-1", "--format", "json")
        assert outcome.json["systems"][0]["name"] == "mine"

    def test_file_whose_own_name_has_the_form_is_that_file(self, folder: Path, run: Run) -> None:
        (folder / "baseline.json").rename("beam=5.json")
        outcome = run("score", "beam=5.json", "references.json", "-m", "bleu-1", "--format", "json")
        assert outcome.json["systems"][0]["name"] == "beam=5"


class TestMetrics:
    def names(self, outcome: Any) -> list[str]:
        assert outcome.code == 0, outcome
        return [row["metric"] for row in csv.DictReader(io.StringIO(outcome.out))]

    @pytest.mark.parametrize(
        ("texts", "names"),
        [
            (["bleu-4,rouge-l"], ["bleu-4", "rouge-l"]),
            (["bleu-4, rouge-l,", "chrf"], ["bleu-4", "rouge-l", "chrf"]),
            (["rouge-s:gap=2,tokenizer=char,bleu-1"], ["rouge-s:tokenizer=char,gap=2", "bleu-1"]),
            (["bleu-4:tokenizer=whitespace,rouge-l@lin2004:tokenizer=char"], None),
            (["bleu-1,mine.py:words,rouge-l"], ["bleu-1", "words", "rouge-l"]),
            (["a,b.py:words"], ["words"]),
        ],
    )
    def test_metrics_may_be_a_list(self, folder: Path, run: Run, texts: list[str], names: list[str] | None) -> None:
        code = "def words(candidate, references):\n    return len(candidate.split())\n"
        for file in ("mine.py", "a,b.py"):
            (folder / file).write_text(code)
        options = [word for text in texts for word in ("-m", text)]
        found = self.names(run("score", *PAIR, *options, "--format", "csv"))
        assert len(found) == 2 if names is None else {*found} == {*names}


class TestReading:
    def test_columns_add_up(self, folder: Path, run: Run) -> None:
        (folder / "a.csv").write_text("key,text\n1,a cat\n2,a dog\n")
        (folder / "r.csv").write_text("key,text\n1,a cat\n2,a dog\n")
        both = run("score", "a.csv", "r.csv", "-m", "bleu-1", "--columns", "id=key", "--columns", "caption=text")
        assert both.code == 0, both
        assert both.out == run("score", "a.csv", "r.csv", "-m", "bleu-1", "--columns", "id=key,caption=text").out

    @pytest.fixture
    def log(self, folder: Path) -> str:
        """A log of lmms-eval with the captions of the example."""
        candidates = json.loads((folder / "baseline.json").read_text())
        references = json.loads((folder / "references.json").read_text())
        rows = [
            {
                "doc_id": number,
                "filtered_resps": [row["caption"]],
                "target": str(references[str(row["image_id"])]),
                "coco_CIDEr": {
                    "answer": references[str(row["image_id"])],
                    "pred": row["caption"],
                    "image_id": row["image_id"],
                },
            }
            for number, row in enumerate(candidates)
        ]
        (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return "log.jsonl"

    def test_two_logs_are_compared(self, folder: Path, run: Run, log: str) -> None:
        (folder / "other.jsonl").write_text((folder / log).read_text().replace("a ", "the "))
        outcome = run("compare", "one=log.jsonl", "other.jsonl", "--from", "lmms-eval", "-m", "bleu-1")
        assert outcome.code == 0, outcome
        assert "one" in outcome.out


@pytest.mark.parametrize(
    "call",
    [
        ["score", *PAIR, "-m", "judge-clair"],
        ["compare", "baseline.json", "improved.json", "references.json", "-m", "judge-clair", "--resamples", "9"],
        ["judge-pairwise", "baseline.json", "improved.json", "references.json"],
    ],
    ids=lambda call: call[0],
)
def test_endpoint_of_a_judge_is_an_option(folder: Path, run: Run, call: list[str]) -> None:
    pytest.importorskip("httpx")
    outcome = run(*call, "--judge", "small", "--endpoint", "http://localhost:9/v1")
    assert_refused(outcome, "no server can be reached", "small at http://localhost:9/v1")
    (folder / "judge.toml").write_text('name = "other"\nendpoint = "http://localhost:8/v1"\n')
    outcome = run(*call, "--judge", "judge.toml", "--endpoint", "http://localhost:9/v1")
    assert_refused(outcome, "other at http://localhost:9/v1")
