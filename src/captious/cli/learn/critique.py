"""captious learn critique: train the critique of LEIC."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.learn.critique_options import Given, captions_by_image, critique_options
from captious.cli.outputs import warn, written
from captious.data import read_references

__all__ = ["critique"]


@click.command()
@click.argument("references", type=click.Path(path_type=Path))
@click.argument("systems", type=click.Path(path_type=Path), nargs=-1, metavar="[SYSTEM]...")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Output file, written atomically.")
@click.option("--name", metavar="NAME", help="Name of the critique in signatures. Default: that of the output file.")
@written("output")
@critique_options
def critique(references: Path, systems: tuple[Path, ...], output: Path, name: str | None, given: Given) -> None:
    """Train a critique to tell the human captions in REFERENCES from corrupted ones and from captions of SYSTEMs.

    It is used as leic:weights=FILE. Training needs torch (pip install 'captious[models]'), scoring does not. Ctrl-C
    ends the training and keeps the network of the last complete epoch.
    """
    from captious.learned.critique.training import train_critique

    table = read_references(references)
    trained, course = train_critique(
        table,
        given.recipe,
        generated=captions_by_image(systems, table),
        sampled=captions_by_image(given.sampled, table),
        images=given.images,
        vectors=given.vectors,
        name=output.name.partition(".")[0] if name is None else name,
    )
    trained.save(output)
    ended = f"loss {course.losses[-1]:.4f}, training accuracy {course.accuracies[-1]:.1%}"
    click.echo(f"{output}: {trained.contents}; {ended} in epoch {len(course.losses)}", err=True)
    if course.interrupted:
        warn([f"training was interrupted after epoch {len(course.losses)} of {given.recipe.epochs}."])
