"""captious compare: test the difference between two systems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.image_groups import group_option, groups_of
from captious.cli.library_options import FILE
from captious.cli.options import (
    metric_options,
    no_references_option,
    of_k_option,
    resampling_options,
    several_option,
    subset_option,
    system_names,
)
from captious.cli.outputs import deliver, output_options, warn
from captious.data import images_of, read_references
from captious.errors import ParameterError
from captious.evaluation import compare as compare_systems
from captious.metrics.contract.settings import Settings

__all__ = ["compare"]


@click.command()
@click.argument("a", type=FILE)
@click.argument("b", type=FILE)
@click.argument("references", type=FILE, required=False)
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Show the N images on which the systems differ most.",
)
@no_references_option
@group_option
@output_options("table", "json", "csv", "latex")
@metric_options
@several_option
@of_k_option
@subset_option
@resampling_options
def compare(
    a: Path,
    b: Path,
    references: Path | None,
    settings: Settings,
    examples: int,
    no_references: bool,
    group_by: str | None,
    format_: str,
    output: Path | None,
    **options: Any,
) -> None:
    """Compare the captions of systems A and B: difference B - A, interval, effect size, p values.

    The interval and the first p value come from the paired bootstrap, the second p value from approximate
    randomization.

    Metrics that need no references are compared without REFERENCES, with --no-references.
    """
    if examples and format_ in ("csv", "latex"):
        raise click.UsageError(f"--examples needs --format table or json; {format_} cannot contain them")
    if references is None and not no_references:
        raise click.MissingParameter(param_hint="'REFERENCES'", param_type="argument")
    if references is not None and no_references:
        raise ParameterError(
            "references were given", where=str(references), help="leave out --no-references, or this file"
        )
    first, second = system_names([a, b])
    files = [file for file in (references, a, b) if file is not None]
    table = images_of(a) if references is None else read_references(references)
    groups = groups_of(group_by, files, table, settings)
    comparison = compare_systems(a, b, table, settings=settings, systems=(first, second), **options)
    result = comparison if groups is None else comparison.by_group(groups)
    deliver(result.to_table(examples=examples), output, format_)
    warn(result.warnings)
