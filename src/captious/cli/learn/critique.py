"""captious learn critique: train the critique of LEIC."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.inputs import reads_captions
from captious.cli.learn.training_options import critique_options, weights_name_option
from captious.cli.library_options import FILE
from captious.cli.options import output_file
from captious.cli.outputs import warn
from captious.data import read_references
from captious.learned.leic import CritiqueRecipe
from captious.learned.training.critiques import captions_by_image, train_critique


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
