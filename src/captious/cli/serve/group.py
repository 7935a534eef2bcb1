"""captious serve: the whole server in the foreground, or one of the commands of the group."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path

import click

from captious.cli.lazy_group import LazyGroup
from captious.cli.server_extra import server_extra
from captious.errors import ParameterError

__all__ = ["data_option", "serve"]

# One line per command: what `captious serve --help` says about it. Each is in a module of its name.
_COMMANDS = {
    "web": "Serve the pages only; for several machines.",
    "worker": "Score submissions only; for several machines.",
    "admin": "Make an administrator, or set an administrator's password.",
    "token": "Make a token of a user for the API.",
    "backup": "Write a backup while the server runs.",
    "restore": "Make a data folder from a backup.",
}

data_option = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    required=True,
    help="Folder of the server: settings, database, challenges, submissions.",
)


@click.group(
    cls=LazyGroup,
    package="captious.cli.serve",
    lines=_COMMANDS,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND]",
)
@click.option("--demo", is_flag=True, help="Start with a challenge to try; its slug is demo.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of the server, created if needed. Default with --demo: a temporary folder.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True, metavar="N", help="Port.")
@click.pass_context
def serve(context: click.Context, demo: bool, data: Path | None, host: str, port: int) -> None:
    """Run an evaluation server: pages, API, and workers that score submissions.

    It brings the database to the current layout, makes the first administrator (from CAPTIOUS_ADMIN and
    CAPTIOUS_ADMIN_PASSWORD, or it asks), and runs until Ctrl-C. Settings are read from DIR/captious.toml and the
    environment.
    """
    if context.invoked_subcommand is not None:
        return
    if data is None and not demo:
        raise ParameterError("no data folder is given", help="captious serve --data DIR, or --demo to try it")
    with server_extra():
        from captious.server.operations.processes import supervise
        from captious.server.operations.setup import first_administrator, load_demo, migrate, set_up
    temporary = Path(tempfile.mkdtemp(prefix="captious-demo-")) if data is None else None
    folder = data or temporary
    assert folder is not None
    try:
        _check_port(host, port)
        set_up(folder, make=True)
        if folder.stat().st_mode & 0o077:
            click.echo(f"warning: other users of this machine can read {folder}: chmod 700 {folder}", err=True)
        migrate()
        said = first_administrator(_ask if sys.stdin.isatty() and not demo else None, demo=demo)
        if demo:
            load_demo()
        shown = "localhost" if host in {"127.0.0.1", "0.0.0.0", "::"} else host
        click.echo(f"http://{shown}:{port}/{'challenges/demo/' if demo else ''}", err=True)
        if said:
            click.echo(said, err=True)
        from django.conf import settings

        context.exit(supervise(folder, host, port, settings.CAPTIOUS.workers))
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _ask() -> tuple[str, str]:
    click.echo("There is no administrator yet.", err=True)
    name = click.prompt("User name", default=os.environ.get("USER") or "admin", err=True)
    return name, click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)


def _check_port(host: str, port: int) -> None:
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise ParameterError(
            f"cannot listen on {host}, port {port}", where=error.strerror or str(error), help="choose another --port"
        ) from None
