"""captious idf: document frequencies of n-grams, which CIDEr weighs by."""

from __future__ import annotations

from pathlib import Path

import click

from captious.metrics.document_frequencies import DocumentFrequencies
from captious.text import as_tokenizer

__all__ = ["idf"]


@click.group()
def idf() -> None:
    """Document frequencies of n-grams, which CIDEr weighs by."""


@idf.command()
@click.argument("references", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="The file to write, such as coco-val.idf."
)
@click.option("--tokenizer", type=click.Choice(["ptb", "ptb-raw", "whitespace"]), default="ptb", show_default=True)
def build(references: Path, output: Path, tokenizer: str) -> None:
    """Count in how many images of REFERENCES each n-gram occurs, and save it.

    Scores of 'captious score --idf FILE' can then be compared whatever images were scored.
    """
    frequencies = DocumentFrequencies.of(references, as_tokenizer(tokenizer))
    frequencies.save(output)
    click.echo(f"{output}: {len(frequencies.counts):,} n-grams of {frequencies.n_documents:,} images", err=True)
