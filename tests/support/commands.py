"""All commands of the command line, but for those of the server, which is a package of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from captious.cli import OF_SERVER, captious

__all__ = ["COMMANDS", "assert_sentences", "below", "unknown_options"]


def below(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield a command and those below it, each with the words that call it."""
    yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if not words and name in OF_SERVER:
                continue
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from below(subcommand, (*words, name))


#: The words behind ``captious`` that call a command -> the command; () is captious itself.
COMMANDS = dict(below(captious, ()))


def assert_sentences(help: str | None) -> None:
    """Sentences for people at a command line, who see neither Python nor the markup of docstrings."""
    assert help is not None
    assert re.match(r"[A-Z]|95%", help)
    assert re.search(r"[.?)_]\s*$", help), help
    assert not re.search(r"``|\bNone\b|In Python", help), help


def unknown_options(code: str, commands: dict[tuple[str, ...], click.Command]) -> set[str]:
    """Return the options that a call of captious names and its command lacks; none if it is no call of ``commands``."""
    call = re.match(r"captious (?:help |(?!help ))((?:[a-z][a-z-]* ?)+)(.*)", code)
    if call is None or call[1] == "study length ":  # the example of add-a-study.md
        return set()
    words = (*call[1].split(), "")
    if words[0] in {words[0] for words in commands if words}:
        command = commands[words[:2] if words[:2] in commands else words[:1]]
    elif words[0] in (*OF_SERVER, *(words[0] for words in COMMANDS if words)):
        return set()
    else:
        return {words[0]}
    options = {option for parameter in command.params for option in parameter.opts} | {"--help", "--debug"}
    return {word.partition("=")[0] for word in call[2].split() if re.match("--?[a-z]", word)} - options
