"""captious study references: how many references does a metric need?"""

from __future__ import annotations

from typing import Any

import click

from captious.cli.options import numbers
from captious.cli.study.group import study_options
from captious.judgment import Study, studies

__all__ = ["references"]


@click.command()
@click.argument("benchmark")
@click.option(
    "--counts",
    callback=numbers(int),
    metavar="1,2,5",
    help="Numbers of references. Default: 1 to 5, 10, 20, 40 and all, up to the number available.",
)
@click.option(
    "--draws", type=click.IntRange(min=1), default=5, show_default=True, help="Random draws of references per number."
)
@study_options(data=True)
def references(benchmark: str, counts: tuple[int, ...], draws: int, **given: Any) -> Study:
    """How many references does a metric need? Measure agreement with human judgments on BENCHMARK by number of
    references."""
    return studies.reference_counts(benchmark, counts=counts, draws=draws, **given)
