"""captious study failures: how often is a metric plainly wrong?"""

from __future__ import annotations

from typing import Any

import click

from captious.cli.study.group import study_options
from captious.judgment import Study, studies

__all__ = ["failures"]


@click.command()
@click.argument("benchmark")
@click.option(
    "--gap",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.75,
    show_default=True,
    help="Minimum difference between the ratings of two captions, as a fraction of the scale.",
)
@study_options(data=True, pictures=False)
def failures(benchmark: str, gap: float, **given: Any) -> Study:
    """How often is a metric plainly wrong? Report the share of pairs of captions of BENCHMARK with very different
    ratings that the metric ranks in the opposite order."""
    return studies.critical_failures(benchmark, gap=gap, **given)
