"""captious study systems: do metrics rank systems alike, and as people do?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.options import subset_option, system_names
from captious.cli.study.group import statistic_option, study_options
from captious.judgment import Study, studies

__all__ = ["systems"]


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SYSTEM... REFERENCES")
@click.option(
    "--human",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Human scores of the systems, json: {system: number}, or {measure: {system: number}}.",
)
@subset_option
@statistic_option
@study_options()
def systems(files: tuple[Path, ...], human: Path | None, subset: bool, statistic: str, **given: Any) -> Study:
    """Do metrics rank systems alike, and as people do? Score three or more SYSTEMs, and correlate metrics over systems
    and over captions."""
    *candidates, references = files
    results = dict(zip(system_names(candidates), candidates, strict=True))
    return studies.system_correlations(results, references, human=human, subset=subset, statistic=statistic, **given)
