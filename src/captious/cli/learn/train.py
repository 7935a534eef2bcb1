"""captious learn train: train a network over features."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from captious.cli.options import settings_options
from captious.cli.outputs import warn, written
from captious.learned.learn import learn
from captious.learned.recipes import RECIPES, as_recipe
from captious.metrics.contract.settings import Settings

__all__ = ["train"]


@click.command()
@click.argument("examples", type=click.Path(path_type=Path))
@click.option(
    "--recipe",
    required=True,
    metavar="NAME|FILE",
    help=f"How to train: {', '.join(RECIPES)}, or a file (.json, .toml) with a base and what differs from it.",
)
@click.option(
    "--validation",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help='Captions with ratings, jsonl: {"candidate", "references", "rating"}. The epoch whose scores agree best with '
    "them is kept. Default: the validation examples, by who wrote them.",
)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Output file, written atomically.")
@click.option("--name", metavar="NAME", help="Name of the weights in signatures. Default: that of the output file.")
@click.option("--seed", type=click.IntRange(min=0), help="Random seed. Default: that of the recipe.")
@written("output")
@settings_options
def train(
    examples: Path,
    recipe: str,
    validation: Path | None,
    output: Path,
    name: str | None,
    seed: int | None,
    settings: Settings,
) -> None:
    """Train on EXAMPLES, which 'captious learn data' made, and write the weights.

    The weights are used as nneval:weights=FILE or lceval:weights=FILE. Training needs torch (pip install
    'captious[models]'), scoring does not. Ctrl-C ends the training and keeps the best weights so far.
    """
    chosen = as_recipe(recipe)
    if seed is not None:
        chosen = replace(chosen, seed=seed)
    called = output.name.partition(".")[0] if name is None else name
    trained, outcome = learn(examples, chosen, validation=validation, settings=settings, name=called)
    trained.save(output)
    best = f"validation tau-b {outcome.best_tau:.4f} after epoch {outcome.best_epoch} of {len(outcome.taus)}"
    click.echo(f"{output}: {trained.contents}; {best}", err=True)
    if outcome.interrupted:
        done = f"after epoch {len(outcome.taus)} of {chosen.epochs}"
        warn([f"training was interrupted {done}: the weights are the best so far."])
