"""Options of commands: equal settings everywhere, and calls that are repeated as command lines."""

from __future__ import annotations

import dataclasses
import inspect
import shlex
from pathlib import Path
from typing import Any

import click
import pytest

from captious.cli.library_options import DocumentedCommand, option, option_of
from captious.cli.options import SETTINGS
from captious.data import Match
from captious.metrics.contract.settings import Settings
from tests.cli.conftest import Run, assert_refused
from tests.support.commands import COMMANDS

FLAGS = [
    "--language",
    "--tokenizer",
    "--idf",
    "--model",
    "--vectors",
    "--parser",
    "--images",
    "--objects",
    "--training",
    "--judge",
    "--references-as",
    "--threads",
]
#: Commands that run metrics.
RUNNING = ["score", "compare", "judge", "explain", "fit"]
#: Studies that run none.
WITHOUT = ["study words", "study frequencies", "study rules", "study critiques"]
STUDIES = [" ".join(words) for words in COMMANDS if words[:1] == ("study",) and words[1:]]
RUNNING += [study for study in STUDIES if study not in WITHOUT]
FILES = ("baseline.json", "improved.json", "references.json")


def parameters(path: str) -> dict[str, dict[str, Any]]:
    """Return click's description of the options of a command, by name."""
    options = (option for option in COMMANDS[*path.split()].params if isinstance(option, click.Option))
    return {option.name or "": option.to_info_dict() for option in options}


def test_every_setting_has_an_option() -> None:
    assert [*SETTINGS] == [field.name for field in dataclasses.fields(Settings)]
    assert [option["opts"][0] for name, option in parameters("score").items() if name in SETTINGS] == FLAGS


@pytest.mark.parametrize("path", RUNNING)
def test_every_scoring_command_has_the_same_setting_options(path: str) -> None:
    options, expected = parameters(path), parameters("score")
    for name in SETTINGS:
        assert options[name] == expected[name]
    assert options["parser"]["opts"] == ["--parser", "--parses"]
    assert [name for name in options if name in SETTINGS] == [*SETTINGS]  # in the order of the help


@pytest.mark.parametrize("path", WITHOUT)
def test_commands_without_metrics_have_no_setting_options(path: str) -> None:
    assert not parameters(path).keys() & {"tokenizer", "idf", "parser", "references_as"}


class TestEffect:
    """A setting reaches the metric, whichever command runs it."""

    @pytest.fixture
    def calls(self, folder: Path, own: str) -> dict[str, list[str]]:
        (folder / "moved.json").write_text((folder / "baseline.json").read_text().replace("a ", "the "))
        quick = ["--resamples", "2"]
        return {
            "score": ["score", *FILES],
            "compare": ["compare", *FILES, *quick],
            "judge": ["judge", "own.jsonl", *quick],
            "references": ["study", "references", "own.jsonl", "--counts", "2", *quick],
            "robustness": ["study", "robustness", "references.json", "--strengths", "1", *quick],
            "metrics": ["study", "metrics", "own.jsonl"],
            "systems": ["study", "systems", *FILES[:2], "moved.json", "references.json", *quick],
            "timing": ["study", "timing", "baseline.json", "references.json", "--repeats", "1"],
            "agreement": ["study", "agreement", "references.json", "--counts", "2", *quick],
        }

    @pytest.mark.parametrize(
        "name",
        [
            *("score", "compare", "judge", "references", "robustness"),
            *("metrics", "systems", "timing", "agreement"),
        ],
    )
    def test_setting_options_change_signatures(self, run: Run, calls: dict[str, list[str]], name: str) -> None:
        settings = ("--tokenizer", "whitespace", "--references-as", "cat", "--threads", 1)
        outcome = run(*calls[name], "-m", "rouge-l", *settings, "--format", "json")
        assert outcome.code == 0, outcome
        assert "rouge-l|variant:official|tokenizer:whitespace|beta:1.2|references:cat-" in outcome.out
        refused = run(*calls[name], "-m", "rouge-l", "--parser", "bundled")
        assert_refused(
            refused, "the setting parser was given, but no requested metric uses it", "parser: bundled", "request"
        )

    def test_setting_options_apply_to_explain(self, run: Run, tables: Path) -> None:
        explained = run("explain", "meteor", "a Cat", "a cat", "--tokenizer", "whitespace", "--format", "json").json
        assert "|tokenizer:whitespace|" in explained["signature"]


class TestDerived:
    """Options follow from the signature and the docstring of a function."""

    @staticmethod
    def made(
        path: Path,
        text: str = "",
        match: Match = "all",
        count: int = 2,
        more: int = 0,
        words: tuple[str, ...] = (),
        other: str | Path | None = None,
        flag: bool = False,
    ) -> None:
        """Make something.

        Args:
            path: a file. In Python, also None.
            text, match: how it is made.
            count, more: numbers
                of things.
            words: words.
            other: a file, or something else.
            flag: whether it is made.
        """

    def derived(self, name: str, **attributes: Any) -> click.Option:
        command = click.command()(option_of(self.made, name, **attributes)(lambda: None))
        [derived] = command.params
        assert isinstance(derived, click.Option)
        return derived

    def test_types_follow_from_annotations(self) -> None:
        assert isinstance(self.derived("path").type, click.Path)
        assert isinstance(self.derived("other").type, click.Path)
        assert self.derived("other", metavar="NAME|FILE").type is click.STRING
        assert self.derived("text").type is click.STRING
        match = self.derived("match").type
        assert isinstance(match, click.Choice)
        assert [*match.choices] == ["all", "common"]
        for name, least in (("count", 1), ("more", 0)):
            number = self.derived(name).type
            assert isinstance(number, click.IntRange)
            assert number.min == least
        assert self.derived("flag").is_flag

    def test_help_and_defaults_are_those_of_the_function(self) -> None:
        assert (self.derived("path").help, self.derived("path").required) == ("A file.", True)
        assert (self.derived("count").help, self.derived("count").default) == ("Numbers of things.", 2)
        assert self.derived("words", multiple=True).help == "Words. May be repeated."

    def test_help_of_a_command_leaves_out_its_parameters(self) -> None:
        @click.command(cls=DocumentedCommand)
        @option("count")
        def command(count: int = 3) -> None:
            """Count.

            Args:
                count: how many.
            """

        assert inspect.cleandoc(command.help or "") == "Count."
        [count] = command.params
        assert isinstance(count, click.Option)
        assert (count.opts, count.help, count.default) == (["--count"], "How many.", 3)


class TestRepeated:
    """The printed command line requests the same as the call."""

    @staticmethod
    def repeated(outcome: Any) -> list[str]:
        return shlex.split(outcome.err.splitlines()[-1].partition("? captious ")[2])

    def test_repeated_score_command_keeps_its_options(self, folder: Path, run: Run) -> None:
        (folder / "baseline.json").rename(folder / "base line.json")
        assert run("fit", "cider-d", "references.json", "-o", "my own.idf").code == 0
        settings = ["-m", "cider-d@paper", "-m", "rouge-l", "-m", "hwcm", "--match", "common", "--idf", "my own.idf"]
        settings += ["--tokenizer", "ptb", "--parser", "bundled", "--references-as", "each", "--threads", "2"]
        outcome = run("score", "base line.json", *FILES[1:], *settings, "--ci", "--per-caption", "x.csv")
        assert outcome.code == 0, outcome
        again = self.repeated(outcome)
        assert again[:4] == ["compare", "base line.json", *FILES[1:]]
        assert sorted(again[4:]) == sorted(settings)
        assert [again[i + 1] for i, word in enumerate(again) if word == "-m"] == ["cider-d@paper", "rouge-l", "hwcm"]
        compared = run(*again, "--resamples", "9", "--format", "json")
        scored = run("score", "base line.json", *FILES[1:], *settings, "--format", "json")
        assert compared.code == 0, compared
        for system, key in zip(scored.json["systems"], ("score_a", "score_b"), strict=True):
            for name, values in system["metrics"].items():
                assert values["score"] == compared.json["metrics"][name][key]
                assert values["signature"] == compared.json["metrics"][name]["signature"]

    def test_repeated_command_quotes_names_with_a_dash(self, folder: Path, run: Run) -> None:
        (folder / "baseline.json").rename(folder / "-x.json")
        again = self.repeated(run("score", "-m", "rouge-l", "--", "-x.json", *FILES[1:]))
        assert again == ["compare", "-m", "rouge-l", "--", "-x.json", *FILES[1:]]
        assert run(*again, "--resamples", "9").code == 2  # options go before the names
        assert run("compare", "--resamples", "9", *again[1:]).code == 0

    def test_repeated_judge_command_keeps_its_options(self, folder: Path, own: str, run: Run) -> None:
        (folder / own).rename("my own.jsonl")
        options = ["-m", "bleu-1", "-m", "rouge-l", "--tokenizer", "whitespace", "--references-as", "cat"]
        options += ["--threads", "1", "--resamples", "9", "--seed", "3"]
        outcome = run("judge", "my own.jsonl", *options)
        again = self.repeated(outcome)
        assert again[:2] == ["judge", "my own.jsonl"]
        assert again[-1] == "--compare"
        assert sorted(again[2:-1]) == sorted(options)
        first, second = (run(*call, "--format", "json").json for call in (["judge", "my own.jsonl", *options], again))
        (first,), (second,) = first["benchmarks"], second["benchmarks"]
        assert {m: {**r, "rank": None} for m, r in second["results"].items()} == first["results"]
        assert "differences" in second


def test_a_function_in_a_file_is_a_metric_that_the_next_command_repeats(folder: Path, run: Run) -> None:
    (folder / "mine.py").write_text("def words(candidate, references):\n    return len(candidate.split())\n")
    outcome = run("score", *FILES, "-m", "mine.py:words", "-m", "rouge-l")
    assert outcome.code == 0, outcome
    assert "words" in outcome.out
    assert "-m mine.py:words" in outcome.err
