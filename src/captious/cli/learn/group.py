"""The group of the commands of learned metrics; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

import click

__all__ = ["learn"]

# One line per command: what `captious learn --help` says of it. Each is in a module of its name.
_COMMANDS = {
    "features": "Write the features of captions to a file.",
    "data": "Make training examples from references and the results of systems.",
    "train": "Train nneval, lceval or a network of your own.",
    "image-features": "Compute the features of images.",
    "critique": "Train the critique of LEIC.",
    "leic": "Score a system by LEIC, in two folds.",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = cmd_name.replace("-", "_")
        return getattr(import_module(f"captious.cli.learn.{module}"), module)  # type: ignore[no-any-return]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*_COMMANDS.items()])


@click.group(cls=_Commands, subcommand_metavar="COMMAND")
def learn() -> None:
    """Train metrics: features, training data, networks."""
