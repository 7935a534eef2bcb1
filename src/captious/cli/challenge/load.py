"""captious challenge load: load a challenge into a server."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.outputs import warn
from captious.cli.serve.group import data_option
from captious.cli.server_extra import server_extra

__all__ = ["load"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@data_option
def load(folder: Path, data: Path) -> None:
    """Load the FOLDER of a challenge into the server of a data folder, or update it, also while it runs.

    Submissions stay. If references, metrics or their settings have changed, they are scored again.
    """
    with server_extra():
        from captious.server.operations.setup import migrate, set_up
    set_up(data, make=True)
    migrate()
    from captious.server.challenges.loading import load_challenge

    loaded = load_challenge(folder)
    click.echo(f"{'loaded' if loaded.is_new else 'updated'}: {loaded.challenge.url}", err=True)
    if loaded.n_baselines:
        click.echo(f"baselines submitted: {loaded.n_baselines:,}", err=True)
    if loaded.n_rescored:
        click.echo(f"submissions that are scored again: {loaded.n_rescored:,}", err=True)
    warn(loaded.warnings)
