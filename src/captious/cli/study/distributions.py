"""captious study distributions: does a metric tell human from machine captions?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.options import subset_option, system_names
from captious.cli.study.group import study_options
from captious.errors import ParameterError
from captious.judgment import Study, studies

__all__ = ["distributions"]


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SYSTEM... REFERENCES")
@click.option(
    "--sample",
    type=click.IntRange(min=2),
    default=5000,
    show_default=True,
    metavar="N",
    help="Number of images to draw at random; all, if there are fewer.",
)
@subset_option
@study_options()
def distributions(files: tuple[Path, ...], sample: int, subset: bool, **given: Any) -> Study:
    """Does a metric tell human from machine captions? Compare the distributions of scores of people and of SYSTEMs:
    means, quantiles, and how far they overlap.

    REFERENCES are human captions, several per image: one is held out, and scored against the others like the captions
    of the systems.
    """
    if len(files) < 2:
        raise ParameterError(
            "no candidates given", help="give at least one file of candidates, followed by the file of references"
        )
    *candidates, references = files
    systems = dict(zip(system_names(candidates), candidates, strict=True))
    return studies.score_distributions(systems, references, subset=subset, sample=sample, **given)
