"""captious learn critique: train the critique of LEIC."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from captious.cli.inputs import reads_captions
from captious.cli.library_options import FILE, converted, option_of
from captious.cli.options import output_file, recipe_attributes, recipe_seed_option, weights_name_option
from captious.cli.outputs import warn
from captious.data import read_references
from captious.learned.leic import CRITIQUE_RECIPES, CritiqueRecipe, as_critique_recipe
from captious.learned.training.critiques import captions_by_image, train_critique
from captious.models import WordVectors
from captious.models.image_features import ImageFeatures


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


@click.command()
@click.argument("references", type=FILE)
@click.argument("systems", type=FILE, nargs=-1, metavar="[SYSTEM]...")
@output_file()
@weights_name_option
@critique_options
@reads_captions("references", "systems")
def critique(
    references: Path,
    systems: tuple[Path, ...],
    output: Path,
    name: str | None,
    recipe: CritiqueRecipe,
    sampled: tuple[Path, ...],
    **inputs: Any,
) -> None:
    """Train a critique to tell the human captions in REFERENCES from corrupted ones and from captions of SYSTEMs.

    It is used as leic:weights=FILE. Training needs torch (pip install 'captious[models]'), scoring does not. Ctrl-C
    ends the training and keeps the network of the last complete epoch.
    """
    table = read_references(references)
    trained, course = train_critique(
        table,
        recipe,
        generated=captions_by_image(systems, table),
        sampled=captions_by_image(sampled, table),
        name=output.name.partition(".")[0] if name is None else name,
        **inputs,
    )
    trained.save(output)
    outcome = f"loss {course.losses[-1]:.4f}, training accuracy {course.accuracies[-1]:.1%}"
    click.echo(f"{output}: {trained.contents}; {outcome} in epoch {len(course.losses)}", err=True)
    if course.interrupted:
        warn([f"training was interrupted after epoch {len(course.losses)} of {recipe.epochs}."])
