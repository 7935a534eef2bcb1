"""Every command explains itself."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from captious import __version__
from captious.cli import captious
from captious.cli.study import study

from .conftest import assert_refused

COMMANDS = [["score"], ["compare"], ["explain"], ["report"], ["metrics"], ["prepare"], ["fit"], ["doctor"]]
COMMANDS += [["resources"], ["resources", "list"], ["resources", "get"], ["resources", "build"]]
COMMANDS += [["parse"]]
COMMANDS += [["learn"], ["learn", "features"], ["learn", "data"], ["learn", "train"]]
COMMANDS += [["vectors"], ["vectors", "add"], ["vectors", "list"], ["vectors", "remove"]]
COMMANDS += [["judge"], ["data"], ["data", "list"], ["data", "items"]]
COMMANDS += [["challenge"], ["challenge", "init"], ["challenge", "check"], ["challenge", "load"], ["submit"], ["run"]]
COMMANDS += [["evaluate-modules"]]
COMMANDS += [["serve"], *(["serve", name] for name in ("web", "worker", "admin", "token", "backup", "restore"))]
COMMANDS += [["study"], *(["study", name] for name in study.list_commands(click.Context(study)))]


def command_of(path: list[str]) -> click.Command:
    found: click.Command = captious
    for name in path:
        assert isinstance(found, click.Group)
        step = found.get_command(click.Context(found), name)
        assert step is not None
        found = step
    return found


@pytest.mark.parametrize("path", [[], *COMMANDS], ids=" ".join)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help(path: list[str], flag: str) -> None:
    result = CliRunner().invoke(captious, [*path, flag], prog_name="captious")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.startswith(f"Usage: {' '.join(['captious', *path])} ")
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_is_described(path: list[str]) -> None:
    assert command_of(path).help


def test_every_option_is_described() -> None:
    options = [option for path in COMMANDS for option in command_of(path).params if isinstance(option, click.Option)]
    assert [option.opts for option in options if not option.help] == []


def test_no_line_of_help_is_cut_short(run) -> None:
    for path in [[], *COMMANDS]:
        usage, *lines = run(*path, "--help").out.splitlines()
        assert usage.startswith("Usage: ")  # the one place where ... means "several"
        assert "..." not in "\n".join(lines)


def test_the_list_of_commands_is_whole() -> None:
    shown = CliRunner().invoke(captious, ["--help"]).stdout
    assert isinstance(captious, click.Group)
    names = captious.list_commands(click.Context(captious))
    assert {*names} == {path[0] for path in COMMANDS}  # so that none escapes these tests
    for name in names:
        assert f"\n  {name} " in shown


def test_version() -> None:
    assert CliRunner().invoke(captious, ["--version"]).stdout == f"captious, version {__version__}\n"


def test_an_unknown_command(run) -> None:
    assert_refused(run("jury"), "'jury'", "captious --help")


def test_no_command_at_all(run) -> None:
    outcome = run()
    assert outcome.code == 2
    assert "Commands:" in outcome.err + outcome.out
    assert "error: usage:" not in outcome.err  # the help, or an error, but not the one in the form of the other
    assert "captious --help" in outcome.err or outcome.err.startswith("Usage: captious")


@pytest.mark.parametrize("group", ["vectors", "resources", "data", "study"])
def test_no_command_of_a_group(run, group: str) -> None:
    outcome = run(group)
    assert outcome.code == 2
    assert {"vectors": "remove", "resources": "build", "data": "items", "study": "robustness"}[
        group
    ] in outcome.err + outcome.out
    assert "error: usage:" not in outcome.err
