"""The group of the commands for challenges; each is imported when it is asked for."""

from __future__ import annotations

import click

from captious.cli.lazy_group import LazyGroup

__all__ = ["challenge"]

# One line per command: what `captious challenge --help` says about it. Each is in a module of its name.
_COMMANDS = {
    "init": "Make the folder of a new challenge.",
    "check": "Check the folder of a challenge, and show what is in it.",
    "load": "Load a challenge into a server, or update it.",
}


@click.group(cls=LazyGroup, package="captious.cli.challenge", lines=_COMMANDS, subcommand_metavar="COMMAND")
def challenge() -> None:
    """Make and check the challenges of an evaluation server."""
