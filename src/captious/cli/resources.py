"""captious resources: download and compile the large files that some metrics need."""

from __future__ import annotations

import os
from pathlib import Path

import click

from captious.cli import Group
from captious.cli.outputs import print_rows
from captious.errors import CaptiousError, MissingExtraError, shown
from captious.resources.cache import ResourceFiles, cache_folder
from captious.resources.corenlp import SpiceGrammar
from captious.resources.user_resources import RESOURCES, Resource


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
@click.option(
    "--from", "source", metavar="PATH_OR_URL", default="", help="Extract spice-grammar from this file, jar or zip."
)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Put everything into this folder, for machines without a network: CAPTIOUS_CACHE=FOLDER there.",
)
def get(names: tuple[str, ...], source: str, folder: Path | None) -> None:
    """Download resources to the cache and compile them. Existing resources are kept, unless --from or --to is given.

    NAME is one of the resources that 'captious resources list' shows. meteor is downloaded with pip, spice-grammar from
    where CoreNLP is published (2 MB).
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
