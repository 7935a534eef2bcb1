"""captious serve: the whole evaluation server in the foreground, and commands for its parts."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from captious.cli import Group
from captious.cli.library_options import FILE
from captious.errors import ParameterError, needed_for
from captious.files.atomic_write import check_place, whole_file
from captious.phrases import counted

if TYPE_CHECKING:
    from captious.server.models import User


class _Folder(click.Path):
    """A folder; an empty string, as from an unset variable, is not the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("it is empty; name a folder, . for this one", param, ctx)
        return super().convert(value, param, ctx)


_FOLDER = _Folder(path_type=Path, file_okay=False)
_host_option = click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all."
)
_port_option = click.option(
    "--port", type=click.IntRange(1, 65535), default=8000, show_default=True, metavar="N", help="Port."
)
server_folder_option = click.option(
    "--data",
    type=_FOLDER,
    metavar="DIR",
    required=True,
    help="Folder of the server: settings, database, challenges, submissions.",
)


def server_extra() -> AbstractContextManager[None]:
    """Return a context in which the server is imported.

    Raises:
        MissingExtraError: a package is not installed.
    """
    return needed_for("the evaluation server", "server")


@click.group(cls=Group, invoke_without_command=True, subcommand_metavar="[COMMAND]")
@click.option("--demo", is_flag=True, help="Start with a challenge to try; its slug is demo.")
@click.option(
    "--data",
    type=_FOLDER,
    metavar="DIR",
    help="Folder of the server, created if needed. Default with --demo: a temporary folder.",
)
@_host_option
@_port_option
@click.pass_context
def serve(context: click.Context, demo: bool, data: Path | None, host: str, port: int) -> None:
    """Run an evaluation server: pages, API, and workers that score submissions.

    It updates the database to the current schema, creates the first administrator (from CAPTIOUS_ADMIN and
    CAPTIOUS_ADMIN_PASSWORD, or it asks), and runs until Ctrl-C. Settings are read from DIR/captious.toml and the
    environment.
    """
    if context.invoked_subcommand is not None:
        return
    if data is None and not demo:
        raise ParameterError("no data folder is given", help="captious serve --data DIR, or --demo to try it")
    with server_extra():
        from captious.server.operations.setup import first_administrator, load_demo, migrate, set_up
        from captious.server.operations.supervisor import listen, supervise
    temporary = Path(tempfile.mkdtemp(prefix="captious-demo-")) if data is None else None
    folder = data or temporary
    assert folder is not None
    try:
        listener = listen(host, port)
        set_up(folder, make=True)
        if folder.stat().st_mode & 0o077:
            click.echo(f"warning: other users of this machine can read {folder}: chmod 700 {folder}", err=True)
        migrate()
        message = first_administrator(
            _ask if sys.stdin.isatty() and not demo else None, demo=demo, show=sys.stderr.isatty()
        )
        if demo:
            load_demo()
        address = "localhost" if host in {"127.0.0.1", "0.0.0.0", "::"} else host
        click.echo(f"http://{address}:{port}/{'challenges/demo/' if demo else ''}", err=True)
        if message:
            click.echo(message, err=True)
        from django.conf import settings

        context.exit(supervise(folder, listener, workers=settings.CAPTIOUS.workers))
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _ask() -> tuple[str, str]:
    click.echo("There is no administrator yet.", err=True)
    name = click.prompt("User name", default=os.environ.get("USER") or "admin", err=True)
    return name, click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)


@serve.command(short_help="Serve the pages only; for several machines.")
@server_folder_option
@_host_option
@_port_option
@click.pass_context
def web(context: click.Context, data: Path, host: str, port: int) -> None:
    """Serve the pages and API of a data folder that 'captious serve' or 'captious serve admin' has set up."""
    with server_extra():
        from captious.server.operations.supervisor import run_web
    context.exit(run_web(data, host, port))


@serve.command(short_help="Score submissions only; for several machines.")
@server_folder_option
def worker(data: Path) -> None:
    """Score submissions until stopped; the current submission is finished first."""
    with server_extra():
        from captious.server.operations.supervisor import run_worker
    run_worker(data)


@serve.command(short_help="Make an administrator, or set an administrator's password.")
@server_folder_option
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


@serve.command(short_help="Make a token of a user for the API.")
@server_folder_option
@click.option("--user", required=True, metavar="NAME", help="User name.")
@click.option("--name", default="command line", show_default=True, help="What the token is for.")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(["read", "submit", "teams", "organize"]),
    multiple=True,
    default=["submit"],
    show_default=True,
    help="What it may do; each may also read. Repeatable.",
)
@click.option("--challenge", metavar="SLUG", help="The only challenge that it is for.")
@click.option("--days", type=click.IntRange(min=1), metavar="N", help="Days after which it expires. Default: never.")
def token(data: Path, user: str, name: str, scopes: tuple[str, ...], challenge: str | None, days: int | None) -> None:
    """Print a new token of a user, for captious submit and the API. It is shown only once."""
    with server_extra():
        from captious.server.operations.setup import set_up
    set_up(data)
    from captious.server.models import Challenge, User
    from captious.server.people.audit import record
    from captious.server.people.secrets import make_token

    owner = User.objects.filter(username=user, is_active=True).first()
    if owner is None:
        raise ParameterError(f"there is no active user {user!r}", help="users sign up on the site")
    only = Challenge.objects.filter(slug=challenge).first() if challenge else None
    if challenge and only is None:
        raise ParameterError(
            f"there is no challenge {challenge!r}", help="use the name in its address, /challenges/NAME/"
        )
    if only is not None and "teams" in scopes:
        raise ParameterError("a token for one challenge cannot change teams", help="leave out --scope teams")
    click.echo(make_token(owner, name, scopes=scopes, challenge=only, days=days or 0))
    record("make token", name, actor=owner, detail="command line")


@serve.command("export-user", short_help="Write what the server knows about a user.")
@server_folder_option
@click.option("--user", required=True, metavar="NAME", help="User name.")
@click.option("-o", "--output", type=FILE, required=True, metavar="FILE", help="Zip file to write.")
def export_user(data: Path, user: str, output: Path) -> None:
    """Write everything that the server stores about a user, with the captions that the user uploaded, to a zip file."""
    check_place(output)
    owner = _account(data, user)
    from captious.server.actions.own_data import data_zip
    from captious.server.people.audit import record

    with whole_file(output, "wb") as file:
        for block in data_zip(owner):
            file.write(block)
    record("export data", user, detail="command line")
    click.echo(f"{output}: {user}", err=True)


@serve.command("delete-user", short_help="Delete the account of a user.")
@server_folder_option
@click.option("--user", required=True, metavar="NAME", help="User name.")
@click.option("--submissions", is_flag=True, help="Also delete submissions that leaderboards count.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete_user(data: Path, user: str, submissions: bool, yes: bool) -> None:
    """Delete the account of a user and the user's own data. This cannot be undone.

    Submissions on leaderboards are kept without a name, and submissions for teams with other members are kept.
    """
    owner = _account(data, user)
    from captious.server.actions.account_deletion import delete_account, kept_submissions, why_not_deleted

    if reason := why_not_deleted(owner):
        raise ParameterError(reason)
    n_kept = 0 if submissions else kept_submissions(owner).count()
    if not yes:
        click.confirm(f"Delete {user}? Submissions that stay without a name: {n_kept:,}.", abort=True, err=True)
    gone = delete_account(owner, submissions=submissions)
    click.echo(f"{user} is {gone.name} now. Submissions: {gone.n_kept:,} kept, {gone.n_deleted:,} deleted.", err=True)


@serve.command("reset-second-step", short_help="Let a user sign in without a second step.")
@server_folder_option
@click.option("--user", required=True, metavar="NAME", help="User name.")
def reset_second_step(data: Path, user: str) -> None:
    """Let a user who has lost the device and the recovery codes sign in with the password alone.

    All sessions of the account end. Verify first that the request comes from the user.
    """
    owner = _account(data, user)
    from captious.server.people.audit import record
    from captious.server.people.second_step import turn_off

    if not owner.totp_salt:
        raise ParameterError(f"{user} has no second step")
    turn_off(owner)
    record("turn off second step", user, detail="command line")
    click.echo(f"{user} signs in without a second step now.", err=True)


def _account(data: Path, name: str) -> User:
    """Return the account of this name, in the server of a data folder."""
    with server_extra():
        from captious.server.operations.setup import set_up
    set_up(data)
    from captious.server.models import User

    owner: User | None = User.objects.filter(username=name).first()
    if owner is None:
        raise ParameterError(f"there is no user {name!r}", help="the administration pages list all: /admin/")
    return owner


@serve.command(short_help="Write a backup while the server runs.")
@click.argument("file", type=FILE)
@server_folder_option
def backup(file: Path, data: Path) -> None:
    """Write a backup of the server to FILE, a tar file. It contains private references: keep it as safe as them."""
    check_place(file)
    with server_extra():
        from captious.server.operations.setup import set_up
    set_up(data)
    from captious.server.operations import backup as backups

    click.echo(f"{file}: {counted(backups.backup(file), 'file')}", err=True)


@serve.command(short_help="Make a data folder from a backup.")
@click.argument("file", type=FILE)
@server_folder_option
def restore(file: Path, data: Path) -> None:
    """Create the data folder of a server from the backup FILE. The folder must not exist yet, or be empty."""
    with server_extra():
        from captious.server.operations.backup import restore as restore_files
        from captious.server.operations.backup import restore_database, settle
        from captious.server.operations.setup import migrate, set_up
    n = restore_files(file, data)
    set_up(data, make=True)
    restore_database(data)
    migrate()
    again, gone = settle()
    click.echo(f"{data}: {counted(n, 'file')}", err=True)
    if again or gone:
        click.echo(
            f"Submissions that changed while the backup was made: scored again {again:,}, deleted {gone:,}.",
            err=True,
        )
