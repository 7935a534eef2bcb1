"""captious study metrics: which metrics agree with each other?"""

from __future__ import annotations

from typing import Any

import click

from captious.cli.study.group import statistic_option, study_options
from captious.judgment import Study, studies

__all__ = ["metrics"]


@click.command()
@click.argument("benchmark")
@statistic_option
@study_options(data=True, resampling=False, seed=False)
def metrics(benchmark: str, statistic: str, **given: Any) -> Study:
    """Which metrics agree with each other? Compute correlations between metrics, and with human judgments, on
    BENCHMARK."""
    return studies.metric_correlations(benchmark, statistic=statistic, **given)
