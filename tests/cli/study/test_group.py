"""captious study: what all studies have in common, and studies of other packages."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import click
import pytest

from captious.cli.study import group
from captious.cli.study.group import study, study_options
from captious.errors import OutputError
from captious.judgment import Study
from captious.metrics.contract.settings import Settings

from ..conftest import Run, assert_refused
from .conftest import METRICS

CONTEXT = click.Context(study)
NAMES = study.list_commands(CONTEXT)


def command_of(name: str) -> click.Command:
    found = study.get_command(CONTEXT, name)
    assert found is not None
    return found


@pytest.mark.parametrize("form", ["table", "json", "csv", "latex"])
def test_results_go_to_files(rated: Path, run: Run, form: str) -> None:
    printed = run("study", "metrics", rated, *METRICS, "--format", form)
    written = run("study", "metrics", rated, *METRICS, "--format", form, "-o", "out.txt")
    assert printed.code == written.code == 0
    assert written.out == ""
    assert Path("out.txt").read_text() == printed.out


def test_an_input_is_never_overwritten(rated: Path, run: Run) -> None:
    before = rated.read_bytes()
    outcome = run("study", "failures", rated, "-m", "bleu-1", "-o", "rated.jsonl")
    assert_refused(outcome, "rated.jsonl is also an input")
    assert rated.read_bytes() == before


def test_nothing_is_computed_before_the_output_is_checked(rated: Path, run: Run) -> None:
    assert_refused(run("study", "failures", rated, "-m", "bleu-1", "-o", "no/such/folder/out.txt"), "no/such/folder")


def test_the_group_lists_every_study(run: Run) -> None:
    assert {file.stem for file in Path(group.__file__).parent.glob("*.py")} - {"__init__", "group"} == {*NAMES}
    listing = " ".join(run("study", "--help").out.split())
    for name in NAMES:
        assert command_of(name).name == name
        assert f"{name} {group._STUDIES[name]}" in listing


@pytest.mark.parametrize("name", NAMES)
def test_the_line_of_the_list_begins_the_help(name: str) -> None:
    help = " ".join((command_of(name).help or "").split())
    question = group._STUDIES[name].partition(":")[0].rstrip("?").split(" in ")[0].split(", and ")[0]
    assert help.startswith(question.replace("systems differ", "SYSTEMs differ"))


@pytest.mark.parametrize("name", NAMES)
def test_every_study_goes_everywhere(name: str) -> None:
    options = {option: each for each in command_of(name).params for option in each.opts}
    assert {"-o", "--format"} <= options.keys()
    assert ("--plot" in options) == (name not in ("failures", "timing"))  # which have nothing to draw
    form = options["--format"].type
    assert isinstance(form, click.Choice)
    assert [*form.choices] == ["table", "json", "csv", "latex", "html"]


class TestWarnings:
    """Those of the study are on stderr, whatever is printed and wherever it goes."""

    BUNDLED = "warning: SPICE is using the bundled approximate grammar"

    @pytest.mark.usefixtures("tables")
    @pytest.mark.parametrize("form", ["table", "json", "csv", "latex"])
    def test_grammar(self, rated: Path, run: Run, form: str) -> None:
        outcome = run("study", "metrics", rated, "-m", "spice", "-m", "bleu-1", "--parser", "bundled", "--format", form)
        assert outcome.code == 0, outcome
        assert outcome.err.count(self.BUNDLED) == 1
        if form == "json":
            (warning,) = outcome.json["warnings"]
            assert outcome.err == f"warning: {warning}\n"

    def test_few_images(self, folder: Path, run: Run) -> None:
        arguments = ("study", "robustness", "references.json", "-m", "bleu-1", "--strengths", "1", "--resamples", 9)
        outcome = run(*arguments, "--sample", 9, "--format", "json")
        (warning,) = outcome.json["warnings"]
        assert warning.startswith("too few images for intervals and tests (9)")
        assert outcome.err == f"warning: {warning}\n"
        assert run(*arguments, "--sample", 10, "-o", "out.json").err == ""
        assert run(*arguments, "--sample", 9, "-o", "out.json").err == f"warning: {warning}\n"


# ---- the decorator

SEEN: list[dict[str, Any]] = []


def made(**options: bool) -> click.Command:
    """A study that notes what it is given."""

    @click.command()
    @click.argument("name")
    @study_options(**options)
    def own(**given: Any) -> Study:
        SEEN.append(given)
        return Study("own", "Mine", ("metric", "value"), [{"metric": "m", "value": 0.5}], warnings=["beware"])

    return own


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ({}, {"metrics", "settings", "resamples", "seed"}),
        ({"data": True}, {"metrics", "settings", "data", "resamples", "seed"}),
        ({"resampling": False}, {"metrics", "settings", "seed"}),
        ({"resampling": False, "seed": False}, {"metrics", "settings"}),
        ({"metrics": False}, {"resamples", "seed"}),
    ],
)
def test_the_function_gets_what_it_asks_for(options: dict[str, bool], given: set[str]) -> None:
    SEEN.clear()
    made(**options).main(["x"], standalone_mode=False)
    (found,) = SEEN
    assert found.keys() == {"name", *given}
    assert found["name"] == "x"
    assert found.get("metrics") is None
    assert found.get("settings", Settings()) == Settings()


def test_what_it_returns_is_delivered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = made()
    own.main(["x", "--format", "json"], standalone_mode=False)
    printed = capsys.readouterr()
    assert '"study": "own"' in printed.out
    assert printed.err == "warning: beware\n"
    own.main(["x", "-o", str(tmp_path / "out.json")], standalone_mode=False)
    assert (tmp_path / "out.json").read_text() == printed.out


def test_a_folder_of_figures_is_checked_before_anything_else(tmp_path: Path) -> None:
    """Even before the settings, which may be large files."""
    pytest.importorskip("matplotlib")
    (tmp_path / "file").touch()
    SEEN.clear()
    with pytest.raises(OutputError, match="cannot write plots"):
        made().main(["x", "--plot", str(tmp_path / "file"), "--vectors", "none.txt"], standalone_mode=False)
    assert SEEN == []


# ---- studies of other packages


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Entry points as packages would have them."""
    here = __name__
    points = [
        EntryPoint("mine", f"{here}:THEIRS", "captious.studies"),
        EntryPoint("timing", f"{here}:THEIRS", "captious.studies"),
        EntryPoint("broken", "no_such_package_of_studies:study", "captious.studies"),
        EntryPoint("number", f"{here}:NUMBER", "captious.studies"),
    ]

    def entry_points(*, group: str) -> list[EntryPoint]:
        return points if group == "captious.studies" else []

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    group._OTHERS.forget()
    yield
    group._OTHERS.forget()


THEIRS = made()
NUMBER = 3


@pytest.mark.usefixtures("plugins")
class TestOtherPackages:
    def test_it_is_listed_after_our_own(self, run: Run) -> None:
        assert study.list_commands(CONTEXT) == [*NAMES, "broken", "mine", "number"]
        listing = " ".join(run("study", "--help").out.split())
        assert f"mine from {__name__}:THEIRS" in listing

    def test_it_runs_like_our_own(self, run: Run) -> None:
        SEEN.clear()
        outcome = run(
            "study", "mine", "x", "-m", "bleu-1", "--tokenizer", "whitespace", "--seed", 4, "--format", "json"
        )
        assert outcome.code == 0, outcome
        assert outcome.json["study"] == "own"
        assert outcome.err == "warning: beware\n"
        (given,) = SEEN
        assert (given["metrics"], given["seed"]) == (["bleu-1"], 4)
        assert given["settings"].tokenizer.name == "whitespace"

    def test_ours_cannot_be_replaced(self) -> None:
        assert command_of("timing") is not THEIRS

    def test_one_that_cannot_be_loaded(self, run: Run) -> None:
        outcome = run("study", "broken")
        assert_refused(outcome, "the study broken cannot be loaded", "no_such_package_of_studies:study", "uninstall")
        assert run("study", "--help").code == 0

    def test_what_is_not_a_command(self, run: Run) -> None:
        assert_refused(run("study", "number"), f"{__name__}:NUMBER is not a study", "a click command")

    def test_a_study_that_nobody_has(self, run: Run) -> None:
        assert_refused(run("study", "theirs"), "'theirs'", "captious study --help")
