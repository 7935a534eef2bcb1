"""captious compare: test the difference between two systems."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import RenderableType

from captious.cli.options import metric_option, resampling_options, settings_options, subset_option, system_names
from captious.cli.outputs import deliver, output_options, warn
from captious.data import load, read_references
from captious.evaluation import Comparison, compare_reports, evaluate
from captious.evaluation.report import DEFAULT_RESAMPLES, DEFAULT_SEED
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious.report.machine_readable import comparison_csv, comparison_json

__all__ = ["compare"]


@click.command()
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.argument("references", type=click.Path(path_type=Path))
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Show the N images on which the systems differ most.",
)
@output_options("table", "json", "csv")
@metric_option
@subset_option
@settings_options
@resampling_options(DEFAULT_RESAMPLES, DEFAULT_SEED)
def compare(
    a: Path,
    b: Path,
    references: Path,
    metrics: list[str] | None,
    settings: Settings,
    subset: bool,
    examples: int,
    resamples: int,
    seed: int,
    format_: str,
    output: Path | None,
) -> None:
    """Compare the captions of systems A and B: difference B - A, interval, effect size, p values.

    The interval and the first p value come from the paired bootstrap, the second p value from approximate
    randomization.
    """
    if examples and format_ == "csv":
        raise click.UsageError("--examples needs --format table or json; csv cannot contain them")
    names = system_names([a, b])
    selection = select(metrics, settings)
    table = read_references(references)
    first, second = (
        evaluate(load(file, table, subset=subset), selection, system=name)
        for name, file in zip(names, (a, b), strict=True)
    )
    comparison = compare_reports(first, second, resamples=resamples, seed=seed)
    deliver(_content(comparison, examples=examples, format_=format_), output)
    warn(comparison.warnings)


def _content(comparison: Comparison, *, examples: int, format_: str) -> str | RenderableType:
    if format_ == "json":
        return comparison_json(comparison, examples=examples)
    if format_ == "csv":
        return comparison_csv(comparison)
    from captious.report.tables import comparison_table

    return comparison_table(comparison, examples=examples)
