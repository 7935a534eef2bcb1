"""Help and usage of every command."""

from __future__ import annotations

import pytest

from tests.golden.command_line import Shell
from tests.golden.record import Record
from tests.support.commands import COMMANDS


@pytest.mark.parametrize("first", sorted({words[0] if words else "captious" for words in COMMANDS}))
def test_help_is_as_recorded(first: str, shell: Shell, record: Record) -> None:
    chosen = [words for words in COMMANDS if (words[0] if words else "captious") == first]
    pages = {" ".join(words) or "captious": shell.run(" ".join([*words, "--help"])) for words in chosen}
    record(f"help/{first}", pages)


def test_usage_errors_are_as_recorded(shell: Shell, record: Record) -> None:
    """No arguments, an unknown option, and an option without its value."""
    found = {}
    for words in COMMANDS:
        command = " ".join(words)
        if command != "doctor":  # it takes no arguments, and shows the machine
            found[command] = shell.run(command)
        found[f"{command} --nope".strip()] = shell.run(f"{command} --nope")
    for line in ("scor", "study referenc", "learn", "score a.json b.json -m", "score a.json b.json --percnt", "--nope"):
        found[line] = shell.run(line)
    record("help/usage", {key: value for key, value in found.items() if not varies(key)})


def varies(line: str) -> bool:
    """Whether the output of a command depends on what is installed."""
    return line in ("metrics", "resources list", "resources build")
