"""captious vectors: compile, name, list and remove word vectors for wmd, mowe and wembsim."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.library_options import FILE
from captious.cli.outputs import print_rows
from captious.resources import vectors as resource
from captious.resources.cache import cache_folder

__all__ = ["vectors"]


@click.group(subcommand_metavar="COMMAND")
def vectors() -> None:
    """Add, list and remove word vectors for wmd, mowe and wembsim."""


@vectors.command(short_help="Compile a file of word vectors, and give it a name.")
@click.argument("file", type=FILE)
@click.option("--name", required=True, help="Name for --vectors and signatures: letters, digits and . - _")
@click.option("--vocabulary", type=FILE, metavar="FILE", help="The words of a .npy file, one per line.")
@click.option(
    "--subwords",
    is_flag=True,
    help="Compute vectors of unknown words from the character n-grams of a fastText .bin file.",
)
@click.option(
    "--keep-first", is_flag=True, help="Keep the first of duplicate words; by default, duplicates are an error."
)
@click.option("--replace", is_flag=True, help="Reassign a name that is already taken, and compile the file again.")
def add(file: Path, name: str, vocabulary: Path | None, subwords: bool, keep_first: bool, replace: bool) -> None:
    """Compile a FILE of word vectors into the cache, and give it a name.

    FILE is GloVe text, word2vec text or binary, fastText .vec or .bin, gensim KeyedVectors, .npz with
    words and vectors, or .npy with --vocabulary; plain or .gz.
    """
    added = resource.add(resource.VectorFile(file, vocabulary, subwords, keep_first), name, replace=replace)
    size = f"{len(added.index):,} words x {added.index.width}"
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
        click.echo(f"there are no word vectors yet: {resource.INSTALL}", err=True)
    click.echo(f"cache: {cache_folder()}", err=True)
