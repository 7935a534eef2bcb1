"""The group of the commands for challenges; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

import click

__all__ = ["challenge"]

# One line per command: what `captious challenge --help` says about it. Each is in a module of its name.
_COMMANDS = {
    "init": "Make the folder of a new challenge.",
    "check": "Check the folder of a challenge, and show what is in it.",
    "load": "Load a challenge into a server, or update it.",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        return getattr(import_module(f"captious.cli.challenge.{cmd_name}"), cmd_name)  # type: ignore[no-any-return]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*_COMMANDS.items()])


@click.group(cls=_Commands, subcommand_metavar="COMMAND")
def challenge() -> None:
    """Make and check the challenges of an evaluation server."""
