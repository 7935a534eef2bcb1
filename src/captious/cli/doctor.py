"""captious doctor: show what is installed and what is missing."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version

import click

from captious.cli.outputs import print_rows
from captious.cli.resources import describe
from captious.errors import shown
from captious.metrics.contract.registry import get, metric_names
from captious.metrics.contract.selection import availability
from captious.native import threads
from captious.resources import vectors as named_vectors
from captious.resources.cache import cache_folder
from captious.resources.user_resources import RESOURCES
from captious.resources.vectors import INSTALL
from captious.version import __version__
from captious.words import counted

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
    }
    works, command, files = tiers.values()
    for name in metric_names():
        readiness = availability(name)
        if readiness.runs:
            works.append((name, readiness.state, get(name).summary))
        else:
            rows = command if readiness.help.startswith(_COMMANDS) else files
            rows.append((name, readiness.state, shown(readiness.help, "command line")))
    for resource in RESOURCES.values():
        state, contents = describe(resource)
        (command if state == "missing" else works).append((resource.title, state, contents))
    for package, (unlocks, extra) in _EXTRAS.items():
        try:
            works.append((package, installed_version(package), unlocks))
        except PackageNotFoundError:
            command.append((package, "missing", f"{unlocks}: pip install 'captious[{extra}]'"))
    vectors = named_vectors.names()
    if vectors:
        works.append(("word vectors", f"{len(vectors)}", ", ".join(vectors)))
    else:
        files.append(("word vectors", "missing", f"for wmd, mowe and wembsim: {INSTALL}"))
    for title, rows in tiers.items():
        if rows:
            click.echo(f"\n{title}")
            print_rows(rows)
