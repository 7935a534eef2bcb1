"""captious prepare, fit and parse: what is computed from captions once, and written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.inputs import reads_captions, shared
from captious.cli.library_options import FILE, DocumentedCommand, option, option_of
from captious.cli.options import complete_metrics, output_file
from captious.cli.outputs import warn
from captious.data import read_references, read_rows
from captious.data.formats import EXTENSIONS
from captious.errors import InputError, ParameterError
from captious.evaluation.checks import warnings_of_references
from captious.evaluation.scoring import fit_resource, write
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious.parsing.parse_files import write_parses
from captious.parsing.sources import GRAMMARS, CaptionParser, as_parse_source, brackets, parse_of
from captious.progress import steps
from captious.text import as_tokenizer
from captious.words import counted


@click.command()
@click.argument("references", type=FILE)
@output_file(help="Output file, such as references.prepared, written atomically.")
@shared("metrics", "settings")
@reads_captions("references")
def prepare(references: Path, output: Path, metrics: list[str] | None, settings: Settings) -> None:
    """Write REFERENCES to a file, with everything that metrics compute about them.

    The file can be used as REFERENCES in all commands and in Python. Scores do not change, and the time to score a
    system depends only on its own captions. The file serves the chosen metrics with the given settings; other metrics
    work as usual.
    """
    name = output.name.lower().removesuffix(".gz")
    if name.endswith(EXTENSIONS):
        raise ParameterError(
            f"{output.name} has the name of a caption file",
            where=str(output),
            hint=f"choose another extension: {output.name.split('.')[0]}.prepared",
        )
    selection = select(metrics, settings)
    table = read_references(references)
    write(table, output, selection)
    images = counted(len(table), "image")
    size = f"{counted(len(table.texts), 'reference')}, {output.stat().st_size / 1e6:,.1f} MB"
    metrics = [item.metric.name for item in selection]
    click.echo(f"{output}: {images}, {size}; prepared for {', '.join(metrics)}", err=True)
    warn([*selection.warnings, *warnings_of_references(table)])


@click.command(cls=DocumentedCommand)
@click.argument("metric", shell_complete=complete_metrics)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="REFERENCES...")
@output_file()
@option("human")
@option_of(fit_resource, "match")
@shared("seed", "settings")
@reads_captions("files", "human")
def fit(metric: str, files: tuple[Path, ...], output: Path, human: Path | None = None, **options: Any) -> None:
    """Fit METRIC to REFERENCES, and write the result to a file.

    'cider-d' (also 'cider' and 'spider') writes document frequencies, for --idf; with them, scores are comparable
    across sets of images. 'smurf' writes its standardization constants, for smurf:constants=FILE. 'chair' writes the
    objects in images, for --objects: pass COCO instances, human captions, or both.

    Args:
        human: for smurf: human captions, one per image, that are not among REFERENCES. Default: one reference of each
            image is held out.
    """
    fitted = fit_resource(metric, files, human=human, **options)
    fitted.resource.save(output)
    click.echo(f"{output}: {fitted.resource.contents}", err=True)
    warn(fitted.warnings)


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
