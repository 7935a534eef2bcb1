"""captious prepare: write references and everything that metrics compute about them to one file."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.inputs import reads_captions
from captious.cli.library_options import FILE
from captious.cli.options import metric_options, output_file
from captious.cli.outputs import warn
from captious.data import read_references
from captious.data.formats import EXTENSIONS
from captious.errors import ParameterError
from captious.evaluation.checks import warnings_of_references
from captious.evaluation.scoring import write
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious.words import counted


@click.command()
@click.argument("references", type=FILE)
@output_file(help="Output file, such as references.prepared, written atomically.")
@metric_options
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
