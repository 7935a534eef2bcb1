"""captious study size: how many training examples does a learned metric need?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.options import numbers
from captious.cli.study.group import training_options
from captious.judgment import Study, studies

__all__ = ["size"]


@click.command()
@click.option(
    "--sizes",
    callback=numbers(int),
    metavar="100,1000",
    help="Numbers of training images. Default: all, half of them, a quarter and so on, down to 1/64.",
)
@training_options
def size(examples: Path, recipe: str, benchmarks: tuple[str, ...], **given: Any) -> Study:
    """How many training examples does a learned metric need? Train networks on the examples of fewer images.

    EXAMPLES are those of 'captious learn data'. Every network is judged on the validation captions, and on each
    BENCHMARK.
    """
    return studies.training_size(examples, recipe, benchmarks, **given)
