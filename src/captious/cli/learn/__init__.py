"""captious learn: make training data, train metrics, and write features; one file per command."""

from __future__ import annotations

import click

from captious.cli import CommandGroup

__all__ = ["learn"]

# One line per command: what `captious learn --help` says about it. Each is in a module of its name.
_COMMANDS = {
    "features": "Write the features of captions to a file.",
    "data": "Make training examples from references and the results of systems.",
    "train": "Train nneval, lceval or a network of your own.",
    "image-features": "Compute the features of images.",
    "critique": "Train the critique of LEIC.",
    "leic": "Score a system by LEIC, in two folds.",
}


@click.group(
    cls=CommandGroup, package="captious.cli.learn", sections={"Commands": _COMMANDS}, subcommand_metavar="COMMAND"
)
def learn() -> None:
    """Train metrics: features, training data, networks."""
