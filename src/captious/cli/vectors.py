"""captious vectors: word vectors for wmd, mowe and wembsim, compiled once and known by a name."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.outputs import print_table
from captious.resources import cache_folder
from captious.resources import vectors as resource

__all__ = ["vectors"]


@click.group(subcommand_metavar="COMMAND")
def vectors() -> None:
    """Word vectors for wmd, mowe and wembsim."""


@vectors.command(short_help="Compile a file of word vectors, and give it a name.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", required=True, help="What --vectors and signatures call them: letters, digits and . - _")
@click.option(
    "--vocabulary",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The words of a .npy file, one on a line.",
)
@click.option(
    "--subwords", is_flag=True, help="Make vectors of unknown words from character n-grams, which fastText's .bin has."
)
@click.option("--keep-first", is_flag=True, help="Of a word that comes twice take the first; otherwise it is an error.")
@click.option("--replace", is_flag=True, help="Take the name from the vectors that have it, and compile the file anew.")
def add(file: Path, name: str, vocabulary: Path | None, subwords: bool, keep_first: bool, replace: bool) -> None:
    """Compile a FILE of word vectors into the cache, and give it a name.

    FILE is GloVe text, word2vec text or binary, fastText .vec or .bin, KeyedVectors that gensim has saved, .npz with
    words and vectors, or .npy with --vocabulary; plain or .gz.
    """
    found = resource.add(resource.VectorFile(file, vocabulary, subwords, keep_first), name, replace=replace)
    click.echo(
        f"{found.name}: {len(found.index):,} words x {found.index.width}, checksum {found.checksum[:8]}", err=True
    )


@vectors.command(short_help="Forget word vectors.")
@click.argument("name")
def remove(name: str) -> None:
    """Forget the word vectors of this NAME, and delete what was compiled for them. The original file stays."""
    resource.remove(name)
    click.echo(f"{name}: removed", err=True)


@vectors.command("list")
def list_() -> None:
    """Show the word vectors that have a name, and which are the default."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    default = resource.default()
    for name in resource.names():
        table.add_row(*map(Text, (name, *resource.describe(name), "default" if name == default else "")))
    if table.row_count:
        print_table(table)
    else:
        click.echo(f"there are no word vectors yet: {resource.INSTALL}", err=True)
    click.echo(f"cache: {cache_folder()}", err=True)
