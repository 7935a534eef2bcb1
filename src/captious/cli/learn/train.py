"""captious learn train: train a network over features."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from captious.cli.library_options import FILE, option_of
from captious.cli.options import (
    output_file,
    recipe_attributes,
    recipe_seed_option,
    settings_options,
    weights_name_option,
)
from captious.cli.outputs import warn
from captious.learned.networks import RECIPES, as_recipe
from captious.learned.training.networks import learn
from captious.metrics.contract.settings import Settings


@click.command()
@click.argument("examples", type=FILE)
@option_of(learn, "recipe", **recipe_attributes(RECIPES))
@option_of(learn, "validation", FILE)
@output_file()
@weights_name_option
@recipe_seed_option
@option_of(learn, "force", is_flag=True)
@settings_options
def train(
    examples: Path,
    recipe: str,
    validation: Path | None,
    output: Path,
    name: str | None,
    seed: int | None,
    force: bool,
    settings: Settings,
) -> None:
    """Train on EXAMPLES made by 'captious learn data', and write the weights.

    The weights are used as nneval:weights=FILE or lceval:weights=FILE. Training needs torch (pip install
    'captious[models]'), scoring does not. Ctrl-C ends the training and keeps the best weights so far.
    """
    training_recipe = as_recipe(recipe)
    if seed is not None:
        training_recipe = replace(training_recipe, seed=seed)
    name = output.name.partition(".")[0] if name is None else name
    trained, outcome = learn(
        examples, training_recipe, validation=validation, settings=settings, name=name, force=force
    )
    trained.save(output)
    best = f"validation tau-b {outcome.best_tau:.4f} after epoch {outcome.best_epoch} of {len(outcome.taus)}"
    click.echo(f"{output}: {trained.contents}; {best}", err=True)
    if outcome.interrupted:
        done = f"after epoch {len(outcome.taus)} of {training_recipe.epochs}"
        warn([f"training was interrupted {done}: the weights are the best so far."])
