"""All commands of the command line."""

from __future__ import annotations

from collections.abc import Iterator

import click

from captious.cli import captious

__all__ = ["COMMANDS"]


def _below(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from _below(subcommand, (*words, name))


#: The words behind ``captious`` that call a command -> the command; () is captious itself.
COMMANDS = dict(_below(captious, ()))
