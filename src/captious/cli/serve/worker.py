"""captious serve worker: scores submissions."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.serve.group import data_option
from captious.cli.server_extra import server_extra

__all__ = ["worker"]


@click.command()
@data_option
def worker(data: Path) -> None:
    """Score submissions until told to stop; the one that is being scored is finished first."""
    with server_extra():
        from captious.server.operations.processes import run_worker
    run_worker(data)
