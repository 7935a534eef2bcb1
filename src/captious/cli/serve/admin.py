"""captious serve admin: make an administrator, or set the password of one."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.serve.group import data_option
from captious.cli.server_extra import server_extra

__all__ = ["admin"]


@click.command()
@data_option
@click.option("--user", required=True, metavar="NAME", help="User name.")
@click.password_option(envvar="CAPTIOUS_ADMIN_PASSWORD", help="Password. Default: CAPTIOUS_ADMIN_PASSWORD, or ask.")
def admin(data: Path, user: str, password: str) -> None:
    """Create an administrator, or make a user an administrator, and set the password."""
    with server_extra():
        from captious.server.operations.setup import make_administrator, migrate, set_up
    set_up(data, make=True)
    migrate()
    make_administrator(user, password)
    click.echo(f"{user} is an administrator.", err=True)
