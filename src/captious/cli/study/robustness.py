"""captious study robustness: does a metric notice corrupted captions?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.options import numbers
from captious.cli.study.group import study_options
from captious.judgment import Study, studies
from captious.judgment.studies.robustness import STRENGTHS

__all__ = ["robustness"]


@click.command()
@click.argument("references", type=click.Path(path_type=Path))
@click.option(
    "--sample",
    type=click.IntRange(min=2),
    default=5000,
    show_default=True,
    metavar="N",
    help="Number of images to draw at random; all, if there are fewer.",
)
@click.option(
    "--strengths",
    callback=numbers(float),
    default=",".join(f"{strength:g}" for strength in STRENGTHS[1:]),
    show_default=True,
    metavar="0.25,0.5,1",
    help="Fractions of captions or words to break; 0 is always included.",
)
@study_options()
def robustness(references: Path, sample: int, strengths: tuple[float, ...], **given: Any) -> Study:
    """Does a metric notice corrupted captions? Score human captions with growing shares of random captions, permuted
    words, and random words.

    REFERENCES are human captions, several per image: one is corrupted, and scored against the others.
    """
    return studies.robustness(references, sample=sample, strengths=strengths, **given)
