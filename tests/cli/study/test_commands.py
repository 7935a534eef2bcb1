"""captious study: options of all studies, and studies of other packages."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import click
import pytest

from captious.cli import study as module
from captious.cli.library_options import COUNT, numbers
from captious.cli.study import study, study_command
from captious.errors import OutputError
from captious.judgment import Study, studies
from captious.metrics.contract.settings import Settings
from tests.cli.conftest import Run, assert_refused

CONTEXT = click.Context(study)
NAMES = study.list_commands(CONTEXT)


def command_of(name: str) -> click.Command:
    command = study.get_command(CONTEXT, name)
    assert command is not None
    return command


def test_the_group_lists_every_study(run: Run) -> None:
    of_commands = {entry.function for entry in module._STUDIES.values()}
    assert {*studies.__all__} - of_commands == {
        "smurf_scores",
        "item_scores",
    }  # of a file of SMURF's authors, and of examples: captious reproduce
    assert of_commands <= {*studies.__all__}
    listing = " ".join(run("study", "--help").out.split())
    for name in NAMES:
        assert command_of(name).name == name
        assert f"{name} {module._STUDIES[name].question}" in listing


@pytest.mark.parametrize(
    ("line", "drawn"),
    [
        (
            "distributions baseline.json references.json -m bleu --resamples 5",
            [f"distributions-bleu-{n}" for n in (1, 2, 3, 4)],
        ),
        ("words references.json --words 3 --system baseline.json", ["words", "phr"]),
    ],
)
def test_figures_are_drawn(folder: Path, run: Run, line: str, drawn: list[str]) -> None:
    pytest.importorskip("matplotlib")
    outcome = run("study", *line.split(), "--plot", "drawn")
    assert outcome.code == 0, outcome
    assert {path.name for path in (folder / "drawn").iterdir()} == {f"{name}.png" for name in drawn}


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_can_be_given(name: str) -> None:
    command, function = command_of(name), getattr(studies, module._STUDIES[name].function)
    names = {parameter.name for parameter in command.params}
    names |= {"systems", "references"} if "files" in names else set()
    names |= {"settings"} if "tokenizer" in names else set()
    assert {*inspect.signature(function).parameters} <= names


class TestWarnings:
    """Warnings of the study are on stderr, whatever is printed and wherever it goes."""

    BUNDLED = "warning: SPICE is using the bundled approximate grammar"

    @pytest.mark.usefixtures("tables")
    @pytest.mark.parametrize("form", ["table", "json", "csv", "tex"])
    def test_warning_about_the_bundled_grammar_is_shown(self, rated: Path, run: Run, form: str) -> None:
        outcome = run("study", "metrics", rated, "-m", "spice", "-m", "bleu-1", "--parser", "bundled", "--format", form)
        assert outcome.code == 0, outcome
        assert outcome.err.count(self.BUNDLED) == 1
        if form == "json":
            (warning,) = outcome.json["warnings"]
            assert outcome.err == f"warning: {warning}\n"

    def test_warning_about_few_images_is_shown(self, folder: Path, run: Run) -> None:
        arguments = ("study", "robustness", "references.json", "-m", "bleu-1", "--strengths", "1", "--resamples", 9)
        outcome = run(*arguments, "--sample", 9, "--format", "json")
        (warning,) = outcome.json["warnings"]
        assert warning.startswith("too few images for intervals and tests (9)")
        assert outcome.err == f"warning: {warning}\n"
        assert run(*arguments, "--sample", 10, "-o", "out.json").err == ""
        assert run(*arguments, "--sample", 9, "-o", "out.json").err == f"warning: {warning}\n"


# ---- commands made of functions

CALLS: list[dict[str, Any]] = []


def own(
    name: str,
    metrics: Any = None,
    bounds: tuple[int, ...] = (1, 2),
    *,
    settings: Settings | None = None,
    data: Path | None = None,
    width: int | None = None,
    strict: bool = False,
    careful: bool = True,
    resamples: int = 10,
    seed: int = 7,
) -> Study:
    """Note the arguments in a study.

    It has no other purpose.

    Args:
        name: any name. In Python, also a number.
        metrics: not shown, as the option is that of all commands.
        bounds: what is shown; see ``captious judge``.
        width, strict, careful: several ``parameters`` of
            one sentence.

    Returns:
        Nothing of interest.
    """
    CALLS.append(locals())
    return Study("own", "Mine", ("metric", "value"), [{"metric": "m", "value": 0.5}], warnings=["beware"])


OWN = study_command(
    "own", "Does it work?", own, {"name": {"metavar": "NAME"}, "bounds": numbers(int, "1,2"), "width": COUNT}
)


@pytest.fixture(autouse=True)
def no_calls() -> None:
    CALLS.clear()


def test_study_function_is_called_with_its_defaults() -> None:
    OWN.main(["--name", "x"], standalone_mode=False)
    defaults = {name: parameter.default for name, parameter in inspect.signature(own).parameters.items()}
    assert [defaults | {"name": "x", "settings": Settings()}] == CALLS


def test_study_function_is_called_with_the_given_options() -> None:
    options = ["--name", "x", "-m", "bleu-1", "--bounds", "3,4", "--tokenizer", "whitespace", "--data", "d"]
    OWN.main(
        [*options, "--width", "5", "--strict", "--no-careful", "--resamples", "3", "--seed", "2"], standalone_mode=False
    )
    (call,) = CALLS
    assert call.pop("settings").tokenizer.name == "whitespace"
    numbers = {"bounds": (3, 4), "width": 5, "resamples": 3, "seed": 2}
    assert call == {"name": "x", "metrics": ["bleu-1"], "data": Path("d"), "strict": True, "careful": False, **numbers}


def test_option_help_comes_from_the_docstring() -> None:
    shown = {option.name: option.help for option in OWN.params if isinstance(option, click.Option)}
    assert OWN.help == "Does it work? Note the arguments in a study.\n\nIt has no other purpose."
    assert shown["name"] == "Any name."
    assert shown["bounds"] == "What is shown; see 'captious judge'."
    assert shown["width"] == shown["strict"] == "Several parameters of one sentence."
    assert "every metric that can run here" in (shown["metrics"] or "")
    bounds = next(option for option in OWN.params if option.name == "bounds")
    assert bounds.default == "1,2"


def test_returned_study_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    OWN.main(["--name", "x", "--format", "json"], standalone_mode=False)
    printed = capsys.readouterr()
    assert '"study": "own"' in printed.out
    assert printed.err == "warning: beware\n"
    OWN.main(["--name", "x", "-o", str(tmp_path / "out.json")], standalone_mode=False)
    assert (tmp_path / "out.json").read_text() == printed.out


def test_a_folder_of_figures_is_checked_before_anything_else(tmp_path: Path) -> None:
    """Even before the settings, which may be large files."""
    pytest.importorskip("matplotlib")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot write plots"):
        OWN.main(["--name", "x", "--plot", str(tmp_path / "file"), "--vectors", "none.txt"], standalone_mode=False)
    assert CALLS == []


# ---- studies of other packages


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Entry points as packages would have them."""
    here = __name__
    points = [
        EntryPoint("mine", f"{here}:OWN", "captious.studies"),
        EntryPoint("timing", f"{here}:OWN", "captious.studies"),
        EntryPoint("broken", "no_such_package_of_studies:study", "captious.studies"),
        EntryPoint("number", f"{here}:NUMBER", "captious.studies"),
    ]

    def entry_points(*, group: str) -> list[EntryPoint]:
        return points if group == "captious.studies" else []

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    vars(module._PLUGINS).pop("by_name", None)
    yield
    vars(module._PLUGINS).pop("by_name", None)


NUMBER = 3


@pytest.mark.usefixtures("plugins")
class TestOtherPackages:
    def test_external_study_is_listed_after_built_in_ones(self, run: Run) -> None:
        assert study.list_commands(CONTEXT) == [*NAMES, "broken", "mine", "number"]
        listing = " ".join(run("study", "--help").out.split())
        assert f"mine from {__name__}:OWN" in listing

    def test_external_study_runs_like_a_built_in_one(self, run: Run) -> None:
        outcome = run("study", "mine", "--name", "x", "--seed", 4, "--format", "json")
        assert outcome.code == 0, outcome
        assert outcome.json["study"] == "own"
        assert outcome.err == "warning: beware\n"
        assert [call["seed"] for call in CALLS] == [4]

    def test_built_in_study_cannot_be_replaced(self) -> None:
        assert command_of("timing") is not OWN

    def test_external_study_that_cannot_be_loaded_is_an_error(self, run: Run) -> None:
        outcome = run("study", "broken")
        assert_refused(outcome, "the study broken cannot be loaded", "no_such_package_of_studies:study", "uninstall")
        assert run("study", "--help").code == 0

    def test_entry_point_that_is_not_a_command_is_an_error(self, run: Run) -> None:
        assert_refused(run("study", "number"), f"{__name__}:NUMBER is not a study", "a click command")

    def test_unknown_study_is_an_error(self, run: Run) -> None:
        assert_refused(run("study", "theirs"), "'theirs'", "captious study --help")
