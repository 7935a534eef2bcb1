"""The group of studies, and the decorators that give a study what all studies, or those of training, take.

A package adds a study with an entry point of the group ``captious.studies``, whose name is the command's and whose
value is a click command made with ``study_options``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from captious.cli.lazy_group import LazyGroup
from captious.cli.options import data_option, metric_option, resampling_options, seed_option, settings_options
from captious.cli.outputs import deliver_result, output_options
from captious.entry_points import EntryPoints
from captious.judgment.correlation import STATISTICS
from captious.learned.recipes import RECIPES

if TYPE_CHECKING:
    from captious.judgment import Study

__all__ = ["statistic_option", "study", "study_options", "training_options"]

# One line per study: what `captious study --help` says about it. Each is in a module of its name.
_STUDIES = {
    "references": "How many references does a metric need?",
    "robustness": "Does a metric notice corrupted captions?",
    "failures": "How often is a metric plainly wrong?",
    "metrics": "Which metrics agree with each other?",
    "systems": "Do metrics rank systems alike, and as people do?",
    "timing": "What does a metric cost?",
    "agreement": "How do human captions score?",
    "words": "Which words do people agree on?",
    "smurf": "How do systems differ from people in semantics, style and grammar?",
    "distributions": "Does a metric tell human from machine captions?",
    "ablation": "Which features does a learned metric need?",
    "depth": "Does a learned metric need hidden layers?",
    "size": "How many training examples does a learned metric need?",
}

_OTHERS = EntryPoints("captious.studies", "study", tuple(_STUDIES))


def study_options(
    *, metrics: bool = True, data: bool = False, resampling: bool = True, seed: bool = True, pictures: bool = True
) -> Callable[[Callable[..., Study]], Callable[..., None]]:
    """Make a command of a function that returns a study: give it the common options, and deliver what it returns.

    The function gets ``metrics`` and ``settings``, ``data``, ``resamples`` and ``seed`` as far as they are asked for
    here. The result is printed or written with its warnings, and drawn with ``--plot``.

    Args:
        metrics: it runs metrics.
        data: it reads benchmarks.
        resampling: it has bootstrap intervals.
        seed: something in it is random; implied by ``resampling``.
        pictures: it can be drawn.
    """

    def decorate(function: Callable[..., Study]) -> Callable[..., None]:
        @functools.wraps(function)
        def command(**given: Any) -> None:
            where = {name: given.pop(name, None) for name in ("format_", "output", "plot")}
            deliver_result(function(**given), **where)

        decorated: Any = command
        if resampling:
            decorated = resampling_options(decorated)
        elif seed:
            decorated = seed_option(decorated)
        if data:
            decorated = data_option(decorated)
        if metrics:
            decorated = metric_option(settings_options(decorated))
        return output_options("table", "json", "csv", "latex", "html", pictures=pictures)(decorated)  # type: ignore[no-any-return]

    return decorate


def training_options(function: Callable[..., Study]) -> Callable[..., None]:
    """Make a command of a study that trains networks: it also gets examples, benchmarks, a recipe and seeds."""
    decorated: Any = study_options(metrics=False, data=True)(function)
    for decorate in (
        settings_options,
        click.option(
            "--seeds",
            type=click.IntRange(min=1),
            default=3,
            show_default=True,
            metavar="N",
            help="Number of networks to train each way, with different random seeds.",
        ),
        click.option(
            "--validation",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Captions with ratings, as for 'captious learn train'. Default: the validation examples.",
        ),
        click.option(
            "--recipe",
            required=True,
            metavar="NAME|FILE",
            help=f"How to train: {', '.join(RECIPES)}, or a file (.json, .toml) with a base and what differs from it.",
        ),
        click.argument("benchmarks", nargs=-1, metavar="[BENCHMARK]..."),
        click.argument("examples", type=click.Path(path_type=Path)),
    ):
        decorated = decorate(decorated)
    return decorated  # type: ignore[no-any-return]


#: Which correlation a study computes.
statistic_option = click.option(
    "--statistic",
    type=click.Choice(STATISTICS),
    default="pearson",
    show_default=True,
    help="Correlation statistic.",
)


class _Studies(LazyGroup):
    """The studies of the package, then those of others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *sorted(_OTHERS.found)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _OTHERS.found:
            return super().get_command(ctx, cmd_name)
        loaded = _OTHERS.load(cmd_name)
        if not isinstance(loaded, click.Command):
            raise _OTHERS.refuse(cmd_name, "a click command")
        return loaded

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Studies"):
            formatter.write_dl([*_STUDIES.items(), *((name, f"from {p.value}") for name, p in _OTHERS.found.items())])


@click.group(cls=_Studies, package="captious.cli.study", lines=_STUDIES, subcommand_metavar="STUDY")
def study() -> None:
    """Study metrics: how many references they need, what they notice, where they fail, what they cost."""
