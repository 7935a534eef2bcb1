"""captious learn features: write the features of captions to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.inputs import matching_options, reads_captions
from captious.cli.library_options import FILE
from captious.cli.options import output_file, settings_options
from captious.cli.outputs import warn
from captious.data import read_captions
from captious.learned.networks import FEATURE_FORMATS, FEATURE_SETS, FeatureMetric, check_feature_file, write_features
from captious.metrics.contract.settings import Settings
from captious.native import using_threads
from captious.words import counted


@click.command()
@click.argument("candidates", type=FILE)
@click.argument("references", type=FILE)
@click.option(
    "--set",
    "set_",
    default="lceval",
    show_default=True,
    metavar="NAME|FILE",
    help=f"Feature set: {', '.join(FEATURE_SETS)}, or a file (.json, .toml).",
)
@output_file(help=f"Output file, written atomically: {', '.join(FEATURE_FORMATS)}.")
@matching_options("match", "ids")
@reads_captions("candidates", "references")
@settings_options
def features(candidates: Path, references: Path, set_: str, output: Path, settings: Settings, **matching: Any) -> None:
    """Write the features of CANDIDATES, one row per image and one column per feature.

    The features are those of a feature set, the input of a learned metric such as lceval. Everything that they depend
    on is written to the file as a signature (parquet and json).
    """
    check_feature_file(output)
    computed = FeatureMetric(feature_set=set_, settings=settings)
    captions = read_captions(candidates, references, **matching)
    table = captions.with_references_as(settings.references_as)
    with using_threads(settings.threads):
        state = computed.fit(table.references)
        matrix = computed.matrix(table, state)
    signature_text = computed.signature(state)
    write_features(output, captions.ids, computed.feature_set.labels, matrix, signature_text)
    click.echo(
        f"{output}: {counted(len(captions), 'caption')}, {counted(matrix.shape[1], 'feature')}, {signature_text}",
        err=True,
    )
    warn(computed.warnings(table, state))
