"""captious serve web: the pages and the API, without workers."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.serve.group import data_option
from captious.cli.server_extra import server_extra

__all__ = ["web"]


@click.command()
@data_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True, metavar="N", help="Port.")
def web(data: Path, host: str, port: int) -> None:
    """Serve pages and API of a data folder that ``captious serve`` or ``captious serve admin`` has set up."""
    with server_extra():
        from captious.server.operations.processes import run_web
    run_web(data, host, port)
