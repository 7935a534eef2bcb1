"""``CommandGroup``: a group of commands, each of which is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class CommandGroup(click.Group):
    """A group whose commands are each in a module of the command's name.

    Args:
        package: where the modules are.
        lines: command -> what the help of the group says about it, in the order in which it lists them.
    """

    def __init__(self, *args: Any, package: str, lines: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._package = package
        self._lines = lines

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._lines]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._lines:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f"{self._package}.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*self._lines.items()])
