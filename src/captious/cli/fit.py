"""captious fit: fit a metric to references and write the result to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.inputs import reads_captions
from captious.cli.library_options import FILE, DocumentedCommand, option, option_of
from captious.cli.options import complete_metrics, output_file, seed_option, settings_options
from captious.cli.outputs import warn
from captious.evaluation.scoring import fit_resource


@click.command(cls=DocumentedCommand)
@click.argument("metric", shell_complete=complete_metrics)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="REFERENCES...")
@output_file()
@option("human")
@option_of(fit_resource, "match")
@seed_option
@settings_options
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
