"""captious serve token: make a token for the API."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.serve.group import data_option
from captious.cli.server_extra import server_extra
from captious.errors import ParameterError

__all__ = ["token"]


@click.command()
@data_option
@click.option("--user", required=True, metavar="NAME", help="User name.")
@click.option("--name", default="command line", show_default=True, help="What the token is for.")
def token(data: Path, user: str, name: str) -> None:
    """Print a new token of a user, for captious submit and the API. It is not shown again."""
    with server_extra():
        from captious.server.operations.setup import set_up
    set_up(data)
    from captious.server.models import User
    from captious.server.people.audit import record
    from captious.server.people.secrets import make_token

    found = User.objects.filter(username=user, is_active=True).first()
    if found is None:
        raise ParameterError(f"there is no active user {user!r}", help="users sign up on the site")
    click.echo(make_token(found, name))
    record("make token", name, actor=found, detail="command line")
