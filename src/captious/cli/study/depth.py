"""captious study depth: does a learned metric need hidden layers?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.options import numbers
from captious.cli.study.group import training_options
from captious.judgment import Study, studies

__all__ = ["depth"]


@click.command()
@click.option(
    "--depths",
    callback=numbers(int),
    default="0,1,2,3",
    show_default=True,
    metavar="0,1,2",
    help="Numbers of hidden layers.",
)
@click.option(
    "--width",
    type=click.IntRange(1, 4096),
    metavar="N",
    help="Width of each hidden layer. Default: that of the recipe's first one.",
)
@training_options
def depth(examples: Path, recipe: str, benchmarks: tuple[str, ...], **given: Any) -> Study:
    """Does a learned metric need hidden layers? Train networks with different numbers of them.

    EXAMPLES are those of 'captious learn data'. Every network is judged on the validation captions, and on each
    BENCHMARK.
    """
    return studies.network_depth(examples, recipe, benchmarks, **given)
