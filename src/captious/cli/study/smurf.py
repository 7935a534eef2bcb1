"""captious study smurf: how do systems differ from people in semantics, style and grammar?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.options import settings_options, subset_option, system_names
from captious.cli.study.group import study_options
from captious.errors import ParameterError
from captious.judgment import Study, studies
from captious.metrics.contract.selection import select_one
from captious.metrics.contract.settings import Settings
from captious.metrics.smurf import Smurf

__all__ = ["smurf"]


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SYSTEM... REFERENCES")
@click.option(
    "--metric",
    "-m",
    default="smurf",
    show_default=True,
    help="SMURF with its models and constants, such as smurf:constants=coco.smurf.json.",
)
@click.option(
    "--human",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Human captions, one per image, that are not among REFERENCES. Default: one reference of each image is held "
    "out.",
)
@subset_option
@study_options(metrics=False, resampling=False)
@settings_options
def smurf(
    files: tuple[Path, ...], metric: str, settings: Settings, human: Path | None, subset: bool, **given: Any
) -> Study:
    """How do SYSTEMs differ from people? Compare the semantics and style of their captions: the ellipse of each system,
    its overlap with human captions, its most central caption, and its grammar penalty."""
    if len(files) < 2:
        raise ParameterError(
            "no candidates given", help="give at least one file of candidates, followed by the file of references"
        )
    *candidates, references = files
    chosen = select_one(metric, settings)
    if not isinstance(chosen, Smurf):
        raise ParameterError(f"{metric} is not SMURF", help="give smurf, with its parameters")
    systems = dict(zip(system_names(candidates), candidates, strict=True))
    return studies.smurf_analysis(systems, references, chosen, human=human, subset=subset, **given)
