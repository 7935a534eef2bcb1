"""The commands ``captious serve`` and ``captious challenge``: the evaluation server, its parts and challenges."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from captious.cli import Group
from captious.drawing import counted
from captious.errors import ParameterError
from captious.files import check_place, whole_file

if TYPE_CHECKING:
    from captious_server.actions.loading import Changes
    from captious_server.models import User


# captious serve: the whole evaluation server in the foreground, and commands for its parts.


class _Folder(click.Path):
    """A folder; an empty string, as from an unset variable, is not the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("it is empty; name a folder, . for this one", param, ctx)
        return super().convert(value, param, ctx)


_FOLDER = _Folder(path_type=Path, file_okay=False)
_FILE = click.Path(path_type=Path)
_host_option = click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
_port_option = click.option(
    "--port", type=click.IntRange(1, 65535), default=8000, show_default=True, metavar="N", help="Port."
)
_proxy_option = click.option(
    "--behind-proxy",
    is_flag=True,
    help="A proxy is in front: trust its headers, and allow a --host that other machines reach.",
)
server_folder_option = click.option(
    "--data",
    type=_FOLDER,
    metavar="DIR",
    required=True,
    help="Folder of the server: settings, database, challenges, submissions.",
)


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
@_proxy_option
@click.pass_context
def serve(context: click.Context, demo: bool, data: Path | None, host: str, port: int, behind_proxy: bool) -> None:
    """Run an evaluation server: pages, API, and workers that score submissions.

    It updates the database to the current schema, creates the first administrator (from CAPTIOUS_ADMIN and
    CAPTIOUS_ADMIN_PASSWORD, or it asks), and runs until Ctrl-C. Settings are read from DIR/captious.toml and the
    environment.
    """
    if context.invoked_subcommand is not None:
        return
    if data is None and not demo:
        raise ParameterError("no data folder is given", hint="captious serve --data DIR, or --demo to try it")
    from captious_server.operations.processes import listen, supervise
    from captious_server.operations.setup import first_administrator, load_demo, migrate, set_up

    temporary = Path(tempfile.mkdtemp(prefix="captious-demo-")) if data is None else None
    folder = data or temporary
    assert folder is not None
    try:
        _check_host(folder, host, behind_proxy=behind_proxy)
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
        address = f"[{host}]" if ":" in host else "localhost" if host == "127.0.0.1" else host
        click.echo(f"http://{address}:{port}/{'challenges/demo/' if demo else ''}", err=True)
        if message:
            click.echo(message, err=True)
        from django.conf import settings

        context.exit(supervise(folder, listener, workers=settings.CAPTIOUS.workers))
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _check_host(data: Path, host: str, *, behind_proxy: bool) -> None:
    """Refuse an address that other machines reach unless a proxy is in front, and tell child processes of one."""
    if behind_proxy:
        os.environ["CAPTIOUS_SERVER_BEHIND_PROXY"] = "true"
    from captious_server.settings import ServerSettings, is_loopback

    if not is_loopback(host) and not ServerSettings.load(data).behind_proxy:
        raise ParameterError(
            f"{host} can be reached from other machines: put a proxy in front, as server/docs/deployment.md says, "
            "and add --behind-proxy"
        )


def _ask() -> tuple[str, str]:
    click.echo("There is no administrator yet.", err=True)
    name = click.prompt("User name", default=os.environ.get("USER") or "admin", err=True)
    return name, click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)


@serve.command(short_help="Serve the pages only; for several machines.")
@server_folder_option
@_host_option
@_port_option
@_proxy_option
@click.pass_context
def web(context: click.Context, data: Path, host: str, port: int, behind_proxy: bool) -> None:
    """Serve the pages and API of a data folder that 'captious serve' or 'captious serve admin' has set up."""
    from captious_server.operations.processes import run_web

    _check_host(data, host, behind_proxy=behind_proxy)
    context.exit(run_web(data, host, port))


@serve.command(short_help="Score submissions only; for several machines.")
@server_folder_option
def worker(data: Path) -> None:
    """Score submissions until stopped; the current submission is finished first."""
    from captious_server.operations.processes import run_worker

    run_worker(data)


@serve.command("nginx-config", short_help="Print a configuration of nginx, the proxy in front.")
@click.option(
    "--listen",
    multiple=True,
    required=True,
    metavar="ADDRESS",
    help="Where clients reach the site, such as 80 or [::]:443. Repeatable.",
)
@click.option(
    "--upstream", default="127.0.0.1:8000", show_default=True, metavar="ADDRESS", help="Where captious serve listens."
)
@click.option("--certificate", type=_FILE, metavar="FILE", help="Certificate with its chain, for TLS.")
@click.option("--key", type=_FILE, metavar="FILE", help="Key of the certificate.")
@click.option(
    "--redirect",
    multiple=True,
    default=["80", "[::]:80"],
    show_default=True,
    metavar="ADDRESS",
    help="Where plain HTTP leads to HTTPS, with --certificate. Repeatable.",
)
@click.option(
    "--folder",
    type=_FOLDER,
    metavar="DIR",
    help="Where nginx keeps waiting requests and its process id. Default: its own folders, which need root.",
)
@click.option("--data", type=_FOLDER, metavar="DIR", help="Folder of the server, for the size limits of its settings.")
def nginx_config(
    listen: tuple[str, ...],
    upstream: str,
    certificate: Path | None,
    key: Path | None,
    redirect: tuple[str, ...],
    folder: Path | None,
    data: Path | None,
) -> None:
    """Print a complete configuration of nginx, for nginx -c FILE.

    nginx then closes slow and idle connections, limits sizes, connections and requests of each address, keeps requests
    and answers on disk, and speaks TLS if there is a certificate.
    """
    from captious_server.operations.nginx import configuration
    from captious_server.settings import ServerSettings

    if (certificate is None) != (key is None):
        raise click.UsageError("--certificate and --key belong together")
    if data is not None and not data.is_dir():
        raise ParameterError(f"there is no folder {data}", hint="name the folder of the server, with its captious.toml")
    text = configuration(
        ServerSettings.load(data or Path(os.devnull)),  # without a folder, those of the environment
        listen,
        upstream,
        certificate=(certificate, key) if certificate and key else None,
        redirect=redirect,
        folder=folder,
    )
    click.echo(text, nl=False)


@serve.command(short_help="Make an administrator, or set an administrator's password.")
@server_folder_option
@click.option("--user", required=True, metavar="NAME", help="User name.")
@click.password_option(envvar="CAPTIOUS_ADMIN_PASSWORD", help="Password. Default: CAPTIOUS_ADMIN_PASSWORD, or ask.")
def admin(data: Path, user: str, password: str) -> None:
    """Create an administrator, or make a user an administrator, and set the password."""
    from captious_server.operations.setup import make_administrator, migrate, set_up

    set_up(data, make=True)
    migrate()
    remark = make_administrator(user, password)
    click.echo(f"{user} is an administrator.", err=True)
    if remark:
        click.echo(remark, err=True)


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
    from captious_server.operations.setup import set_up

    set_up(data)
    from captious_server.models import Challenge, User
    from captious_server.people.accounts import make_token, record

    owner = User.objects.filter(username=user, is_active=True).first()
    if owner is None:
        raise ParameterError(f"there is no active user {user!r}", hint="users sign up on the site")
    only = Challenge.objects.filter(slug=challenge).first() if challenge else None
    if challenge and only is None:
        raise ParameterError(
            f"there is no challenge {challenge!r}", hint="use the name in its address, /challenges/NAME/"
        )
    if only is not None and "teams" in scopes:
        raise ParameterError("a token for one challenge cannot change teams", hint="leave out --scope teams")
    click.echo(make_token(owner, name, scopes=scopes, challenge=only, days=days or 0))
    record("make token", name, actor=owner, detail="command line")


@serve.command("export-user", short_help="Write what the server knows about a user.")
@server_folder_option
@click.option("--user", required=True, metavar="NAME", help="User name.")
@click.option("-o", "--output", type=_FILE, required=True, metavar="FILE", help="Zip file to write.")
def export_user(data: Path, user: str, output: Path) -> None:
    """Write everything that the server stores about a user, with the captions that the user uploaded, to a zip file."""
    check_place(output)
    owner = _account(data, user)
    from captious_server.actions.accounts import data_zip
    from captious_server.people.accounts import record

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
    from captious_server.actions.accounts import delete_account, kept_submissions, why_not_deleted

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
    from captious_server.people.accounts import record
    from captious_server.people.sign_in import turn_off

    if not owner.has_second_step:
        raise ParameterError(f"{user} has no second step")
    turn_off(owner)
    record("turn off second step", user, detail="command line")
    click.echo(f"{user} signs in without a second step now.", err=True)


def _account(data: Path, name: str) -> User:
    """Return the account of this name, in the server of a data folder."""
    from captious_server.operations.setup import set_up

    set_up(data)
    from captious_server.models import User

    owner: User | None = User.objects.filter(username=name).first()
    if owner is None:
        raise ParameterError(f"there is no user {name!r}", hint="the administration pages list all: /admin/")
    return owner


@serve.command(short_help="Write a backup while the server runs.")
@click.argument("file", type=_FILE)
@server_folder_option
def backup(file: Path, data: Path) -> None:
    """Write a backup of the server to FILE, a tar file. It contains private references: keep it as safe as them."""
    check_place(file)
    from captious_server.operations.setup import set_up

    set_up(data)
    from captious_server.operations import setup

    click.echo(f"{file}: {counted(setup.backup(file), 'file')}", err=True)


@serve.command(short_help="Make a data folder from a backup.")
@click.argument("file", type=_FILE)
@server_folder_option
def restore(file: Path, data: Path) -> None:
    """Create the data folder of a server from the backup FILE. The folder must not exist yet, or be empty."""
    from captious_server.operations.setup import migrate, restore_database, set_up, settle
    from captious_server.operations.setup import restore as restore_files

    n = restore_files(file, data)
    try:
        set_up(data, make=True)
        restore_database(data)
    except BaseException:
        shutil.rmtree(data, ignore_errors=True)
        raise
    migrate()
    again, gone = settle()
    click.echo(f"{data}: {counted(n, 'file')}", err=True)
    if again or gone:
        click.echo(
            f"Submissions that changed while the backup was made: scored again {again:,}, deleted {gone:,}.",
            err=True,
        )


# captious challenge: make, check and load the challenges of an evaluation server.


@click.group(cls=Group, subcommand_metavar="COMMAND")
def challenge() -> None:
    """Create and check challenges of an evaluation server."""


@challenge.command(short_help="Make the folder of a new challenge.")
@click.argument("folder", type=_FILE)
@click.option(
    "--references",
    type=_FILE,
    multiple=True,
    metavar="FILE",
    help="References to copy into the folder, in any format that captious score reads; two files, of other images "
    "each, make a public and a private phase. With --like, several.",
)
@click.option(
    "--like",
    metavar="NAME",
    help="A challenge that only lacks its references: coco-captions, nocaps, vizwiz-captions.",
)
@click.option(
    "--from",
    "bundle",
    type=_FILE,
    metavar="BUNDLE",
    help="Bundle of Codabench or CodaLab, or configuration of EvalAI: a zip file, its folder, or the YAML file.",
)
def init(folder: Path, references: tuple[Path, ...], like: str | None, bundle: Path | None) -> None:
    """Create the FOLDER of a new challenge.

    It contains a commented challenge.toml and two pages to edit. FOLDER must not exist yet, or be empty; its name
    becomes the name of the challenge in URLs.

    With --from, texts, phases, dates, limits and metrics are taken from the bundle, as far as captious supports them;
    everything left out is listed.
    """
    from captious_server.challenges.definition import lacking_metrics
    from captious_server.challenges.importing import import_bundle
    from captious_server.challenges.starter import READY, READY_METRICS, STARTER_METRICS, write_ready, write_starter

    if like is not None and bundle is not None:
        raise click.UsageError("--like and --from exclude each other")
    if like is None and len(references) > (1 if bundle else 2):
        raise click.UsageError("only --like takes so many --references")
    to_do: list[str] = []
    metrics: tuple[str, ...] = ()
    if like is not None:
        if like not in READY:
            raise click.BadParameter(f"{like!r} is none of {', '.join(READY)}", param_hint="--like")
        files, missing = write_ready(folder, like, references)
        metrics = READY_METRICS
        to_do = [f"to be added: {file}" for file in missing]
        if any(file.endswith("-domain.json") for file in missing):
            to_do.append("given with --references, the files of all images are split by domain")
    elif bundle is not None:
        files, left_out = import_bundle(bundle, folder, *references)
        to_do = [f"left out: {sentence}" for sentence in left_out]
    else:
        files = write_starter(folder, *references)
        metrics = STARTER_METRICS
    for command, names in lacking_metrics(metrics).items():
        to_do.append(f"left out: {', '.join(names)}: run {command}, then add to metrics in challenge.toml")
    click.echo(f"{folder}: {', '.join(files)}", err=True)
    for line in to_do:
        click.echo(line, err=True)
    click.echo(f"edit them, then run: {shlex.join(['captious', 'challenge', 'check', str(folder)])}", err=True)


@challenge.command(short_help="Check the folder of a challenge, and show what is in it.")
@click.argument("folder", type=_FILE)
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of a server: check what loading needs there, and show what it would change.",
)
def check(folder: Path, data: Path | None) -> None:
    """Check the FOLDER of a challenge, and show its contents.

    All problems are reported at once: in challenge.toml, in the files that it names, and metrics that are not available
    here. With --data, also problems that depend on the server, such as organizers without an account.
    """
    from captious_server.challenges.folder import check_folder, summary_rows
    from captious_server.operations.setup import set_up

    if data is None:
        checked = check_folder(folder)
        if checked.definition.organizers:
            click.echo("with --data DIR, it is also checked that the organizers have accounts", err=True)
    else:
        set_up(data)
        from captious_server.actions.loading import check_for_server

        checked, changes = check_for_server(folder)
        _print_changes(changes)
    rows = [*summary_rows(checked)]
    width = max(len(heading) for heading, _ in rows)
    for heading, group in groupby(rows, key=itemgetter(0)):
        for number, (_, text) in enumerate(group):
            click.echo(f"{'' if number else heading:<{width}}  {text}")
    _warn(checked.warnings)


@challenge.command(short_help="Load a challenge into a server, or update it.")
@click.argument("folder", type=_FILE)
@server_folder_option
@click.option("--yes", is_flag=True, help="Also undo what was set on the site, reopen phases and remove used ones.")
def load(folder: Path, data: Path, yes: bool) -> None:
    """Load the FOLDER of a challenge into the server of a data folder, or update it, even while the server runs.

    Submissions are kept. If references, metrics or their settings have changed, they are scored again, without counting
    towards quotas. An update prints its changes. Settings made on the site are kept, unless the folder's value has
    changed since it was last loaded; then the command asks, or needs --yes. So it does before it reopens a phase whose
    final scores were shown, or removes one that has submissions.
    """
    from captious_server.operations.setup import migrate, set_up

    set_up(data)
    migrate()
    from captious_server.actions.loading import load_challenge

    def agree(changes: Changes) -> bool:
        _print_changes(changes)
        if yes or not changes.to_confirm:
            return True
        return sys.stdin.isatty() and click.confirm("Load it all the same?", err=True)

    loaded = load_challenge(folder, agree=agree)
    click.echo(f"{'loaded' if loaded.is_new else 'updated'}: {loaded.challenge.url}", err=True)
    if loaded.n_baselines:
        click.echo(f"baselines submitted: {loaded.n_baselines:,}", err=True)
    if loaded.n_rescored:
        click.echo(f"submissions that are scored again: {loaded.n_rescored:,}", err=True)
    _warn(loaded.warnings)


def _warn(warnings: Iterable[str]) -> None:
    for warning in warnings:
        click.echo(f"{click.style('warning:', fg='yellow')} {warning}", err=True)


def _print_changes(changes: Changes) -> None:
    for heading, lines in (
        ("changed in the folder", changes.folder),
        ("set on the site, would be undone", changes.reversals),
        ("set on the site, stays", changes.overrides),
        ("to be confirmed", changes.dangers),
    ):
        for line in lines:
            click.echo(f"{heading}: {line}", err=True)


@challenge.command(short_help="Fill in fields of submissions, such as human scores.")
@click.argument("slug")
@click.argument("file", type=_FILE)
@server_folder_option
def fill(slug: str, file: Path, data: Path) -> None:
    """Set fields of submissions to the challenge SLUG from a FILE, a CSV table.

    Its columns are submission (a number) or team (for its entry), optionally phase, and names of fields that
    challenge.toml declares. An empty cell removes a value.
    """
    from captious_server.operations.setup import set_up

    set_up(data)
    from captious_server import actions
    from captious_server.actions.loading import find_challenge
    from captious_server.boards.fields import TableError

    try:
        n = actions.fill(None, find_challenge(slug), file.read_bytes())
    except OSError as error:
        raise ParameterError(f"{file} cannot be read", where=error.strerror or "") from None
    except TableError as error:
        raise ParameterError(f"{file} cannot be used", where="\n".join(error.problems)) from None
    click.echo(f"fields were set in {counted(n, 'submission')}", err=True)


@challenge.command(short_help="Write the folder of a challenge as a server has it.")
@click.argument("slug")
@click.option("-o", "--output", type=_FILE, required=True, metavar="FOLDER", help="Folder to write; new, or empty.")
@server_folder_option
def export(slug: str, output: Path, data: Path) -> None:
    """Write the folder of the challenge SLUG from the server of a data folder, including references.

    captious challenge load restores it, here or on another server: the files are those that were loaded, byte for byte,
    but challenge.toml also records which leaderboards were hidden on the site, and has a slug if FOLDER has another
    name. Submissions are not included.
    """
    from captious_server.operations.setup import set_up

    set_up(data)
    from captious_server.actions.loading import export_challenge, find_challenge

    files = export_challenge(find_challenge(slug), output)
    click.echo(f"{output}: {counted(len(files), 'file')}", err=True)
