"""Every command explains itself."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from captious import __version__
from captious.cli import captious
from tests.support.commands import COMMANDS, assert_sentences

OPTIONS = [
    pytest.param(option, id=" ".join((*words, option.opts[0])))
    for words, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option)
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_lists_the_commands(words: tuple[str, ...], flag: str) -> None:
    result = CliRunner().invoke(captious, [*words, flag], prog_name="captious")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.startswith(f"Usage: {' '.join(['captious', *words])} ")
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_is_described(words: tuple[str, ...]) -> None:
    assert_sentences(COMMANDS[words].help)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_described(option: click.Option) -> None:
    assert_sentences(option.help)


def test_no_line_of_help_is_cut_short(run) -> None:
    for words in COMMANDS:
        usage, *lines = run(*words, "--help").out.splitlines()
        assert usage.startswith("Usage: ")  # the one place where ... means "several"
        assert "..." not in "\n".join(lines)


def test_version_is_printed() -> None:
    assert CliRunner().invoke(captious, ["--version"]).stdout == f"captious, version {__version__}\n"
