"""The options of the commands that train critiques."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from captious.data import ImageId, References, load
from captious.learned.critique.recipes import CRITIQUE_RECIPES, CritiqueRecipe, as_critique_recipe
from captious.models import WordVectors
from captious.models.image_features import ImageFeatures

__all__ = ["Given", "captions_by_image", "critique_options"]


@dataclass(frozen=True)
class Given:
    """What the options say.

    Args:
        recipe: how to train.
        images: image features, or None.
        vectors: word vectors, or None.
        sampled: files of further captions of systems.
    """

    recipe: CritiqueRecipe
    images: ImageFeatures | None
    vectors: WordVectors | None
    sampled: Sequence[Path]


def critique_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--recipe``, ``--images``, ``--vectors``, ``--sampled`` and ``--seed``; the command gets them as ``given``."""

    @functools.wraps(command)
    def gathered(
        *args: Any,
        recipe: str,
        images: Path | None,
        vectors: str | None,
        sampled: tuple[Path, ...],
        seed: int | None,
        **others: Any,
    ) -> Any:
        chosen = as_critique_recipe(recipe)
        if seed is not None:
            chosen = replace(chosen, seed=seed)
        given = Given(
            chosen,
            None if images is None else ImageFeatures.load(images),
            None if vectors is None else WordVectors.open(vectors),
            sampled,
        )
        return command(*args, given=given, **others)

    decorated: Any = gathered
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


_OPTIONS = (
    click.option(
        "--recipe",
        default="leic",
        show_default=True,
        metavar="NAME|FILE",
        help=f"How to train: {', '.join(CRITIQUE_RECIPES)}, or a file (.json, .toml) with a base and what differs.",
    ),
    click.option(
        "--images",
        type=click.Path(path_type=Path),
        metavar="FEATURES",
        help="File of image features (captious learn image-features). Without it, the critique sees no images.",
    ),
    click.option(
        "--vectors",
        metavar="NAME|FILE",
        help="Word vectors that the training starts from. Default: random numbers.",
    ),
    click.option(
        "--sampled",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Further captions of systems as negative examples, one per image: a Monte Carlo sample. Repeatable.",
    ),
    click.option("--seed", type=click.IntRange(min=0), help="Random seed. Default: that of the recipe."),
)


def captions_by_image(files: Sequence[Path], references: References) -> dict[ImageId, list[str]]:
    """The captions of systems, by image; systems may cover some of the images."""
    found: dict[ImageId, list[str]] = {}
    for file in files:
        captions = load(file, references, subset=True)
        for image, caption in zip(captions.ids, captions.candidates, strict=True):
            found.setdefault(image, []).append(caption)
    return found
