"""captious serve restore: make a data folder from a backup."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.serve.group import data_option
from captious.cli.server_extra import server_extra

__all__ = ["restore"]


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@data_option
def restore(file: Path, data: Path) -> None:
    """Make a data folder from the backup FILE. The folder must not exist yet, or be empty."""
    with server_extra():
        from captious.server.operations.backup import restore as restore_files
        from captious.server.operations.backup import restore_database, settle
        from captious.server.operations.setup import migrate, set_up
    n = restore_files(file, data)
    set_up(data, make=True)
    restore_database(data)
    migrate()
    again, gone = settle()
    click.echo(f"{data}: {n:,} files", err=True)
    if again or gone:
        click.echo(
            f"Changed while the backup was made: {again:,} submissions are scored again, {gone:,} were deleted.",
            err=True,
        )
