"""captious challenge: make, check and load the challenges of an evaluation server."""

from __future__ import annotations

import shlex
import sys
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from captious.cli import Group
from captious.cli.library_options import FILE
from captious.cli.outputs import print_rows, warn
from captious.cli.serve import server_extra, server_folder_option
from captious.phrases import counted

if TYPE_CHECKING:
    from captious.server.challenges.changes import Changes


@click.group(cls=Group, subcommand_metavar="COMMAND")
def challenge() -> None:
    """Create and check challenges of an evaluation server."""


@challenge.command(short_help="Make the folder of a new challenge.")
@click.argument("folder", type=FILE)
@click.option(
    "--references",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="References to copy into the folder, in any format that captious score reads; with --like, several.",
)
@click.option(
    "--like",
    metavar="NAME",
    help="A challenge that only lacks its references: coco-captions, nocaps, vizwiz-captions.",
)
@click.option(
    "--from",
    "bundle",
    type=FILE,
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
    with server_extra():
        from captious.server.challenges.bundle_import import import_bundle
        from captious.server.challenges.challenge_metrics import lacking_metrics
        from captious.server.challenges.ready_challenges import READY, READY_METRICS, write_ready
        from captious.server.challenges.starter import STARTER_METRICS, write_starter
    if like is not None and bundle is not None:
        raise click.UsageError("--like and --from exclude each other")
    if len(references) > 1 and like is None:
        raise click.UsageError("only --like takes several --references")
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
@click.argument("folder", type=FILE)
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
    with server_extra():
        from captious.server.challenges.challenge_summary import summary_rows
        from captious.server.challenges.folder import check_folder
        from captious.server.operations.setup import set_up
    if data is None:
        checked = check_folder(folder)
        if checked.definition.organizers:
            click.echo("with --data DIR, it is also checked that the organizers have accounts", err=True)
    else:
        set_up(data)
        from captious.server.actions.challenge_store import check_for_server

        checked, changes = check_for_server(folder)
        _print_changes(changes)
    by_heading = groupby(summary_rows(checked), key=itemgetter(0))
    print_rows(
        ("" if number else heading, text) for heading, rows in by_heading for number, (_, text) in enumerate(rows)
    )
    warn(checked.warnings)


@challenge.command(short_help="Load a challenge into a server, or update it.")
@click.argument("folder", type=FILE)
@server_folder_option
@click.option("--yes", is_flag=True, help="Also undo what was set on the site where the folder has changed.")
def load(folder: Path, data: Path, yes: bool) -> None:
    """Load the FOLDER of a challenge into the server of a data folder, or update it, even while the server runs.

    Submissions are kept. If references, metrics or their settings have changed, they are scored again, without counting
    towards quotas. An update prints its changes. Settings made on the site are kept, unless the folder's value has
    changed since it was last loaded; then the command asks, or needs --yes.
    """
    with server_extra():
        from captious.server.operations.setup import migrate, set_up
    set_up(data)
    migrate()
    from captious.server.actions.challenge_store import load_challenge

    def agree(changes: Changes) -> bool:
        _print_changes(changes)
        if yes or not changes.reversals:
            return True
        return sys.stdin.isatty() and click.confirm("Undo what was set on the site?", err=True)

    loaded = load_challenge(folder, agree=agree)
    click.echo(f"{'loaded' if loaded.is_new else 'updated'}: {loaded.challenge.url}", err=True)
    if loaded.n_baselines:
        click.echo(f"baselines submitted: {loaded.n_baselines:,}", err=True)
    if loaded.n_rescored:
        click.echo(f"submissions that are scored again: {loaded.n_rescored:,}", err=True)
    warn(loaded.warnings)


def _print_changes(changes: Changes) -> None:
    for heading, lines in (
        ("changed in the folder", changes.folder),
        ("set on the site, would be undone", changes.reversals),
        ("set on the site, stays", changes.overrides),
    ):
        for line in lines:
            click.echo(f"{heading}: {line}", err=True)


@challenge.command(short_help="Write the folder of a challenge as a server has it.")
@click.argument("slug")
@click.option("-o", "--output", type=FILE, required=True, metavar="FOLDER", help="Folder to write; new, or empty.")
@server_folder_option
def export(slug: str, output: Path, data: Path) -> None:
    """Write the folder of the challenge SLUG from the server of a data folder, including references.

    captious challenge load restores it, here or on another server: the files are those that were loaded, byte for byte,
    but challenge.toml also records which leaderboards were hidden on the site, and has a slug if FOLDER has another
    name. Submissions are not included.
    """
    with server_extra():
        from captious.server.operations.setup import set_up
    set_up(data)
    from captious.server.challenges.challenge_export import export_challenge, find_challenge

    files = export_challenge(find_challenge(slug), output)
    click.echo(f"{output}: {counted(len(files), 'file')}", err=True)
