"""captious study timing: what does a metric cost?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.study.group import study_options
from captious.judgment import Study, studies

__all__ = ["timing"]


@click.command()
@click.argument("candidates", type=click.Path(path_type=Path))
@click.argument("references", type=click.Path(path_type=Path))
@click.option(
    "--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Number of timings per metric."
)
@study_options(resampling=False, seed=False, pictures=False)
def timing(candidates: Path, references: Path, repeats: int, **given: Any) -> Study:
    """What does a metric cost? Measure the seconds per 1,000 captions for all CANDIDATES with their REFERENCES."""
    return studies.scoring_time(candidates, references, repeats=repeats, **given)
