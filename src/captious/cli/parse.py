"""captious parse: write parses of captions to a file, for other programs or for ``--parses``."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.inputs import reads_captions
from captious.cli.library_options import FILE, DocumentedCommand, option
from captious.cli.options import output_file
from captious.data import read_rows
from captious.errors import InputError, ParameterError
from captious.parsing.parse_files import write_parses
from captious.parsing.sources import GRAMMARS, CaptionParser, as_parse_source, brackets, parse_of
from captious.progress import steps
from captious.text import as_tokenizer
from captious.words import counted


@click.command(cls=DocumentedCommand)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="CAPTIONS...")
@output_file(help="Output file, such as coco.jsonl, written atomically.")
@option("grammar", click.Choice(GRAMMARS))
@option("tokenizer", click.Choice(["ptb", "whitespace"]))
@reads_captions("files")
def parse(files: tuple[Path, ...], output: Path, grammar: str | None = None, tokenizer: str = "ptb") -> None:
    """Parse the distinct captions of files of results or references, and write words, parts of speech, lemmas, trees
    and dependencies, one JSON object per line.

    'captious score --parses FILE' reads such a file.

    Args:
        grammar: the official grammar of SPICE, or the bundled one. Default: the official one if it is installed.
        tokenizer: how captions are split into words.
    """
    if output.suffix != ".jsonl":
        raise ParameterError("parses are written as JSON Lines", where=str(output), hint="use the extension .jsonl")
    tokenize = as_tokenizer(tokenizer)
    captions: dict[str, None] = {}
    with steps(files, lambda file: f"reading {file.name}") as opened:
        for file in opened:
            captions.update(dict.fromkeys(_texts(file)))
    sentences = dict.fromkeys(words for text in captions if (words := tuple(" ".join(tokenize(text)).split())))
    parser = as_parse_source(grammar)
    assert isinstance(parser, CaptionParser)
    trees = zip(sentences, parser.trees(list(sentences)), strict=True)
    rows = ((" ".join(words), parse_of(tree), brackets(tree)) for words, tree in trees)
    n = write_parses(output, rows, made_by=parser.label)
    click.echo(f"{output}: {counted(n, 'caption')}, parsed with {parser.label}", err=True)


def _texts(file: Path) -> list[str]:
    """Return the captions in a file of either kind."""
    try:
        return list(read_rows(file, "references").texts)
    except InputError as error:
        try:
            return list(read_rows(file, "candidates").texts)
        except InputError:
            raise error from None
