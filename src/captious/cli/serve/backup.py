"""captious serve backup: write a backup while the server runs."""

from __future__ import annotations

from pathlib import Path

import click

from captious.atomic_write import check_place
from captious.cli.serve.group import data_option
from captious.cli.server_extra import server_extra

__all__ = ["backup"]


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@data_option
def backup(file: Path, data: Path) -> None:
    """Write a backup of the server to FILE, a tar file. It contains private references: keep it as safe as them."""
    check_place(file)
    with server_extra():
        from captious.server.operations.setup import set_up
    set_up(data)
    from captious.server.operations import backup as backups

    click.echo(f"{file}: {backups.backup(file):,} files", err=True)
