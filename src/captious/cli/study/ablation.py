"""captious study ablation: which features does a learned metric need?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.study.group import training_options
from captious.judgment import Study, studies

__all__ = ["ablation"]


def _groups(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> dict[str, list[str]] | None:
    """NAME=FEATURE,FEATURE, any number of times."""
    found: dict[str, list[str]] = {}
    for text in given:
        name, mark, features = text.partition("=")
        if not mark or not name.strip() or name.strip() in found:
            raise click.BadParameter(f"{text!r} is not of the form NAME=FEATURE,FEATURE, or its name is repeated")
        found[name.strip()] = [feature.strip() for feature in features.split(",") if feature.strip()]
    return found or None


@click.command()
@click.option(
    "--group",
    "groups",
    multiple=True,
    callback=_groups,
    metavar="NAME=FEATURE,FEATURE",
    help="Features that are left out, and used, together. May be repeated. Default: the features of the same metric.",
)
@training_options
def ablation(examples: Path, recipe: str, benchmarks: tuple[str, ...], **given: Any) -> Study:
    """Which features does a learned metric need? Train networks without each feature, and without and on each group of
    features; compare them, and each feature by itself, with the network on all features.

    EXAMPLES are those of 'captious learn data'. Every network is judged on the validation captions, and on each
    BENCHMARK.
    """
    return studies.feature_ablation(examples, recipe, benchmarks, **given)
