"""Options of training commands: names, random seeds, and data for critiques."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from captious.cli.library_options import FILE, converted, option_of
from captious.cli.options import SEED, recipe_attributes
from captious.learned.leic import CRITIQUE_RECIPES, as_critique_recipe
from captious.learned.training.critiques import train_critique
from captious.models import WordVectors
from captious.models.image_features import ImageFeatures

recipe_seed_option = click.option("--seed", **{**SEED, "help": "Random seed. Default: that of the recipe."})
weights_name_option = click.option(
    "--name", metavar="NAME", help="Name of the weights in signatures. Default: that of the output file."
)


def _objects(
    recipe: str, seed: int | None, images: Path | None, vectors: str | None, sampled: tuple[Path, ...]
) -> dict[str, Any]:
    critique_recipe = as_critique_recipe(recipe)
    return {
        "recipe": critique_recipe if seed is None else replace(critique_recipe, seed=seed),
        "images": None if images is None else ImageFeatures.load(images),
        "vectors": None if vectors is None else WordVectors.open(vectors),
        "sampled": sampled,
    }


#: The training options of a critique: the command is called with a ``recipe`` with its seed, image features as
#: ``images``, word vectors as ``vectors``, and files as ``sampled``.
critique_options = converted(
    _objects,
    click.option("--recipe", default="leic", show_default=True, **recipe_attributes(CRITIQUE_RECIPES)),
    option_of(train_critique, "images", FILE, metavar="FEATURES"),
    option_of(train_critique, "vectors", metavar="NAME|FILE"),
    option_of(train_critique, "sampled", FILE, multiple=True),
    recipe_seed_option,
)
