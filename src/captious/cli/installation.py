"""captious resources, vectors and doctor: what is installed, and how to get and compile what is missing."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import click

from captious.cli import Group
from captious.cli.library_options import FILE, option, option_of
from captious.cli.outputs import print_rows
from captious.errors import CaptiousError, MissingExtraError, OutputError, reason, shown
from captious.metrics.contract.registry import PLUGINS, get, metric_names
from captious.metrics.contract.selection import availability
from captious.native import threads
from captious.resources import vectors as named_vectors
from captious.resources.cache import ResourceFiles, cache_folder
from captious.resources.corenlp import SpiceGrammar
from captious.resources.user_resources import RESOURCES, Resource
from captious.resources.vectors import INSTALL, VectorFile
from captious.version import __version__
from captious.words import counted

_CONTENTS = {"answers.sqlite": "answers of judges", "shown": "notes of warnings that were shown"}


@click.group(cls=Group, subcommand_metavar="COMMAND")
def resources() -> None:
    """Download and compile the large files that some metrics need."""


@resources.command("list")
def list_resources() -> None:
    """Show the resources, their locations and their state."""
    print_rows((name, *describe(resource)) for name, resource in RESOURCES.items())
    click.echo(f"cache: {cache_folder()}", err=True)


@resources.command("get", short_help="Download resources and compile them.")
@click.argument("names", nargs=-1, required=True, type=click.Choice([*RESOURCES]), metavar="NAME...")
@option("source", flags=("--from",), metavar="PATH_OR_URL")
@option("folder", click.Path(path_type=Path, file_okay=False), flags=("--to",), metavar="DIRECTORY")
def get_resources(names: tuple[str, ...], source: str = "", folder: Path | None = None) -> None:
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


@click.group(cls=Group, subcommand_metavar="COMMAND")
def vectors() -> None:
    """Add, list and remove word vectors for wmd, mowe and wembsim."""


@vectors.command(short_help="Compile a file of word vectors, and give it a name.")
@click.argument("file", type=FILE)
@option_of(named_vectors.add, "name", metavar="NAME")
@option_of(VectorFile, "vocabulary")
@option_of(VectorFile, "subwords")
@option_of(VectorFile, "keep_first")
@option_of(named_vectors.add, "replace")
def add(file: Path, name: str, replace: bool, **form: Any) -> None:
    """Compile a FILE of word vectors into the cache, and give it a name.

    FILE is GloVe text, word2vec text or binary, fastText .vec or .bin, gensim KeyedVectors, .npz with
    words and vectors, or .npy with --vocabulary; plain or .gz.
    """
    added = named_vectors.add(VectorFile(file, **form), name, replace=replace)
    size = f"{counted(len(added.index), 'word')} x {added.index.width}"
    click.echo(f"{added.name}: {size}, checksum {added.checksum[:8]}", err=True)


@vectors.command(short_help="Remove word vectors.")
@click.argument("name")
def remove(name: str) -> None:
    """Remove the word vectors NAME and their compiled files. The original file is kept."""
    named_vectors.remove(name)
    click.echo(f"{name}: removed", err=True)


@vectors.command("list")
def list_vectors() -> None:
    """Show the named word vectors and the default."""
    default = named_vectors.default()
    if rows := [
        (name, *named_vectors.describe(name), "default" if name == default else "") for name in named_vectors.names()
    ]:
        print_rows(rows)
    else:
        click.echo(f"there are no word vectors yet: {INSTALL}", err=True)
    click.echo(f"cache: {cache_folder()}", err=True)


# Optional packages: what they unlock, and the extra that installs them.
_EXTRAS = {
    "pandas": ("pandas data frames as input and output", "pandas"),
    "polars": ("polars data frames as input and output", "polars"),
    "pyarrow": ("parquet files as input and output", "parquet"),
    "openpyxl": ("spreadsheets as output", "xlsx"),
    "h5py": ("image features in h5 files", "h5"),
    "matplotlib": ("plots of judgments and studies, and captious explain --svg", "report"),
    "torch": (
        "metrics with models: bertscore, yi2020, mima, spurts, smurf, clipscore, refclipscore, concur@full; "
        "mowe, wembsim --model; training of nneval, lceval and leic",
        "models",
    ),
    "transformers": ("the same", "models"),
    "pillow": ("images for clipscore and refclipscore", "models"),
    "spacy": ("parts of speech in captious study words, and hwcm:parser=spacy:NAME", "parse"),
}
#: Prefix of remedies that only need a network.
_COMMANDS = ("pip install", "hf download", "captious resources")


@click.command()
def doctor() -> None:
    """Show what works now, what needs one command, and what needs your own files."""
    print_rows(
        [
            ("captious", __version__, f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"),
            ("kernels", "ok", f"{counted(threads(), 'thread')} (set CAPTIOUS_THREADS to change)"),
            ("cache", "", f"{cache_folder()} (set CAPTIOUS_CACHE to change)"),
        ]
    )
    tiers: dict[str, list[tuple[str, str, str]]] = {
        "Works now": [],
        "Needs one command": [],
        "Needs your own files": [],
        "Cannot be used": [],
    }
    works, command, files, unusable = tiers.values()
    for name in metric_names():
        readiness = availability(name)
        if readiness.runs:
            works.append((name, readiness.state, get(name).summary))
        else:
            needed = command if readiness.help.startswith(_COMMANDS) else files
            rows = unusable if readiness.state == "broken" else needed
            rows.append((name, readiness.state, shown(readiness.help, "command line")))
    for name, point in PLUGINS.ignored:
        unusable.append((name, "ignored", f"the entry point {point.value}: the name is that of another metric"))
    for resource in RESOURCES.values():
        state, contents = describe(resource)
        rows = {"missing": command, "unusable": unusable}.get(state, works)
        rows.append((resource.title, state, contents))
    for package, (unlocks, extra) in _EXTRAS.items():
        try:
            works.append((package, installed_version(package), unlocks))
        except PackageNotFoundError:
            command.append((package, "missing", f"{unlocks}: pip install 'captious[{extra}]'"))
    if names := named_vectors.names():
        works.append(("word vectors", f"{len(names)}", ", ".join(names)))
    else:
        files.append(("word vectors", "missing", f"for wmd, mowe and wembsim: {INSTALL}"))
    for title, rows in tiers.items():
        if rows:
            click.echo(f"\n{title}")
            print_rows(rows)
