"""captious study agreement: how do human captions score?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.options import numbers
from captious.cli.study.group import study_options
from captious.judgment import Study, studies

__all__ = ["agreement"]


@click.command()
@click.argument("references", type=click.Path(path_type=Path))
@click.option(
    "--counts",
    callback=numbers(int),
    metavar="1,2,4",
    help="Numbers of references. Default: from 1 to the usual number of captions minus one.",
)
@click.option(
    "--place",
    type=click.IntRange(min=0),
    metavar="N",
    help="Hold out the caption at this position, from 0. Default: a random one.",
)
@click.option(
    "--published",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also show the human row of this COCO leaderboard, such as cap_c5.json.",
)
@study_options()
def agreement(
    references: Path, counts: tuple[int, ...], place: int | None, published: Path | None, **given: Any
) -> Study:
    """How do human captions score? Hold out one caption of every image, and score it against growing numbers of the
    others.

    REFERENCES are human captions, several per image.
    """
    return studies.human_agreement(references, counts=counts, place=place, published=published, **given)
