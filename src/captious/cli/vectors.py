"""captious vectors: compile, name, list and remove word vectors for wmd, mowe and wembsim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli import Group
from captious.cli.library_options import FILE, option_of
from captious.cli.outputs import print_rows
from captious.resources import vectors as resource
from captious.resources.cache import cache_folder
from captious.resources.vectors import INSTALL, VectorFile
from captious.words import counted


@click.group(cls=Group, subcommand_metavar="COMMAND")
def vectors() -> None:
    """Add, list and remove word vectors for wmd, mowe and wembsim."""


@vectors.command(short_help="Compile a file of word vectors, and give it a name.")
@click.argument("file", type=FILE)
@option_of(resource.add, "name", metavar="NAME")
@option_of(VectorFile, "vocabulary")
@option_of(VectorFile, "subwords")
@option_of(VectorFile, "keep_first")
@option_of(resource.add, "replace")
def add(file: Path, name: str, replace: bool, **form: Any) -> None:
    """Compile a FILE of word vectors into the cache, and give it a name.

    FILE is GloVe text, word2vec text or binary, fastText .vec or .bin, gensim KeyedVectors, .npz with
    words and vectors, or .npy with --vocabulary; plain or .gz.
    """
    added = resource.add(VectorFile(file, **form), name, replace=replace)
    size = f"{counted(len(added.index), 'word')} x {added.index.width}"
    click.echo(f"{added.name}: {size}, checksum {added.checksum[:8]}", err=True)


@vectors.command(short_help="Remove word vectors.")
@click.argument("name")
def remove(name: str) -> None:
    """Remove the word vectors NAME and their compiled files. The original file is kept."""
    resource.remove(name)
    click.echo(f"{name}: removed", err=True)


@vectors.command("list")
def list_() -> None:
    """Show the named word vectors and the default."""
    default = resource.default()
    if rows := [(name, *resource.describe(name), "default" if name == default else "") for name in resource.names()]:
        print_rows(rows)
    else:
        click.echo(f"there are no word vectors yet: {INSTALL}", err=True)
    click.echo(f"cache: {cache_folder()}", err=True)
