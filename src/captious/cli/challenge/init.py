"""captious challenge init: make the folder of a new challenge."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from captious.cli.server_extra import server_extra

__all__ = ["init"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--references",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="References to copy into the folder, in any format that captious score reads.",
)
def init(folder: Path, references: Path | None) -> None:
    """Make the FOLDER of a new challenge.

    It gets a challenge.toml with comments, and two pages to edit. FOLDER must not exist yet, or be empty; its
    name becomes the name of the challenge in addresses.
    """
    with server_extra():
        from captious.server.challenges.starter import write_starter
    files = write_starter(folder, references)
    click.echo(f"{folder}: {', '.join(files)}", err=True)
    click.echo(f"edit them, then run: {shlex.join(['captious', 'challenge', 'check', str(folder)])}", err=True)
