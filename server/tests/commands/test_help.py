"""The server's commands explain themselves as those of captious do, and the pages name only options that exist."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from captious.cli import OF_SERVER, captious
from captious_server import commands
from tests.cli.conftest import Run, assert_refused
from tests.support.commands import assert_sentences, below, unknown_options

COMMANDS = {words: command for name in OF_SERVER for words, command in below(getattr(commands, name), (name,)) if words}
OPTIONS = [
    pytest.param(option, id=" ".join((*words, option.opts[0])))
    for words, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option)
]
REPOSITORY = Path(__file__).parents[3]
PAGES = [REPOSITORY / "server" / "README.md"]
PAGES += sorted([*(REPOSITORY / "server" / "docs").glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_lists_the_commands(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(captious, [*words, "--help"], prog_name="captious")
    assert result.exit_code == 0
    assert result.stderr == ""
    usage, *lines = result.stdout.splitlines()
    assert usage.startswith(f"Usage: {' '.join(['captious', *words])} ")
    assert all(len(line) <= 80 for line in [usage, *lines])
    assert "..." not in "\n".join(lines)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_is_described(words: tuple[str, ...]) -> None:
    assert_sentences(COMMANDS[words].help)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_described(option: click.Option) -> None:
    assert_sentences(option.help)


def test_mistyped_command_is_suggested(run: Run) -> None:
    assert_refused(run("serve", "bakup"), "'bakup'", "did you mean backup?")


def test_commands_and_options_in_the_text_exist() -> None:
    found = 0
    for page in PAGES:
        prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for code in re.findall(r"`(captious (?:serve|challenge)\b[^`\n]*)`", prose):
            assert unknown_options(code, COMMANDS) == set(), f"{page.name}: {code}"
            found += 1
    assert found > 5
