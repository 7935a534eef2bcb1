"""captious idf: document frequencies of n-grams, which CIDEr weighs by."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.options import check_outputs, warn
from captious.data import read_references
from captious.metrics.shared.document_frequencies import DocumentFrequencies

__all__ = ["idf"]


@click.group(subcommand_metavar="COMMAND")
def idf() -> None:
    """Document frequencies of n-grams, which CIDEr weighs by."""


@idf.command()
@click.argument("references", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="The file to write, such as coco-val.idf."
)
@click.option(
    "--tokenizer",
    type=click.Choice(["ptb", "ptb-raw", "whitespace"]),
    default="ptb",
    show_default=True,
    help="How captions become tokens.",
)
def build(references: Path, output: Path, tokenizer: str) -> None:
    """Count the images of REFERENCES that have each n-gram.

    Scores of 'captious score --idf FILE' can then be compared whatever images were scored.
    """
    check_outputs([output], [references])
    table = read_references(references)
    frequencies = DocumentFrequencies.of(table, tokenizer)
    frequencies.save(output)
    click.echo(f"{output}: {len(frequencies.counts):,} n-grams of {frequencies.n_documents:,} images", err=True)
    if len(table.texts) == len(table):
        warn(["every image has one caption only: are these the references, or the candidates of a system?"])
