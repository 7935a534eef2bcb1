"""Recipes of critiques: the network, its vocabulary, the negative examples and the optimiser."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from captious.errors import ParameterError
from captious.learned.recipe_files import changed_base, check_fields

__all__ = [
    "COMBINATIONS",
    "CRITIQUE_RECIPES",
    "IMAGES",
    "NEGATIVES",
    "PATHOLOGIES",
    "CritiqueRecipe",
    "as_critique_recipe",
]

#: How context and candidate are combined: side by side, by compact bilinear pooling (Gao et al. 2016), or side by side
#: with a hidden layer.
COMBINATIONS = ("concat", "bilinear", "mlp")
#: What the image is: not seen, a part of the context next to the reference, or the whole context.
IMAGES = ("none", "context", "only")
#: Kinds of negative examples, all equally likely: captions of systems, corrupted human captions, and further captions
#: from files, such as Monte Carlo samples.
NEGATIVES = ("generated", "pathological", "sampled")
#: How human captions are corrupted: the caption of another image, random words, words in another order.
PATHOLOGIES = ("random-caption", "random-words", "word-permutation")
#: What a caption that is too long for the network is encoded as: zeros (the official code), or its first words.
_CUT = ("zeros", "first-words")
_CHOICES = {"combination": COMBINATIONS, "images": IMAGES, "cut": _CUT}
_LISTS = {"negatives": NEGATIVES, "pathologies": PATHOLOGIES}
_LIMITS: Mapping[str, tuple[float, float]] = {
    **{"most_words": (1, 1_000_000), "least_count": (1, 1_000_000), "length": (1, 1_000), "width": (1, 4_096)},
    **{"units": (1, 8_192), "hidden": (1, 8_192), "pooled": (2, 1 << 20), "dropout": (0, 0.99)},
    **{"images_per_batch": (1, 1 << 20), "epochs": (1, 100_000), "learning_rate": (1e-12, 1e3), "decay": (1e-6, 1)},
    **{"clip": (0, 1e9), "seed": (0, (1 << 63) - 1)},
}
_FRACTIONAL = {"dropout", "learning_rate", "decay", "clip"}
_HELP = 'write {"base": "leic", "name": "mine", "units": 128}, with any fields of the recipe'


@dataclass(frozen=True)
class CritiqueRecipe:
    """How to train a critique.

    Args:
        name: of the recipe.
        combination: one of ``COMBINATIONS``.
        images: one of ``IMAGES``; without image features it becomes "none".
        most_words: size of the vocabulary: the most frequent words of the human captions.
        least_count: words that occur less often are unknown.
        length: words of a caption that are read.
        cut: captions that are too long for an end mark are "zeros" or "first-words".
        width: of the vectors of words; that of the word vectors, if any are given.
        units: of the LSTM, and of the image.
        hidden: width of the hidden layer of "mlp".
        pooled: width of bilinear pooling.
        dropout: share of numbers that are dropped, in the vectors of words, the LSTM's outputs and the hidden layer.
        negatives: which of ``NEGATIVES``; those that are not available are left out.
        pathologies: which of ``PATHOLOGIES``.
        images_per_batch: images of a step; each gives one human and one negative example.
        epochs: passes over the images.
        learning_rate: of Adam in the first epoch.
        decay: factor of the learning rate from one epoch to the next.
        clip: largest norm of all gradients together; 0 for no limit.
        seed: random seed.

    Raises:
        ParameterError: a value that a field does not take.
    """

    name: str
    combination: str = "mlp"
    images: str = "context"
    most_words: int = 10_000
    least_count: int = 1
    length: int = 15
    cut: str = "zeros"
    width: int = 300
    units: int = 512
    hidden: int = 512
    pooled: int = 8_192
    dropout: float = 0.5
    negatives: tuple[str, ...] = NEGATIVES
    pathologies: tuple[str, ...] = PATHOLOGIES
    images_per_batch: int = 50
    epochs: int = 30
    learning_rate: float = 1e-3
    decay: float = 0.9
    clip: float = 1.0
    seed: int = 123

    def __post_init__(self) -> None:
        for field, choices in _CHOICES.items():
            if getattr(self, field) not in choices:
                raise ParameterError(
                    f"invalid {field}: {getattr(self, field)!r:.60}", help=f"give {' or '.join(choices)}"
                )
        for field, choices in _LISTS.items():
            values = getattr(self, field)
            if not values or not isinstance(values, tuple) or {*values} - {*choices} or len({*values}) < len(values):
                raise ParameterError(f"invalid {field}: {values!r:.60}", help=f"give some of {', '.join(choices)}")
        check_fields(self, _LIMITS, _FRACTIONAL)

    def to_dict(self) -> dict[str, Any]:
        """As it is written in files."""
        return {**asdict(self), **{field: list(getattr(self, field)) for field in _LISTS}}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> CritiqueRecipe:
        """What ``to_dict`` gives.

        Raises:
            ParameterError: an unknown field, or a value that a field does not take.
        """
        names = {field.name for field in fields(cls)}
        if unknown := {*content} - names:
            raise ParameterError(
                f"a recipe has no {sorted(unknown)[0]!r:.60}", help=f"its fields: {', '.join(sorted(names))}"
            )
        lists = {field: tuple(content[field]) for field in _LISTS if isinstance(content.get(field), list)}
        return cls(**{**content, **lists})


_OFFICIAL = CritiqueRecipe("leic")
#: The built-in recipes: the official code's, what differs from it in the paper, and the code's for Flickr8k.
CRITIQUE_RECIPES: Mapping[str, CritiqueRecipe] = {
    "leic": _OFFICIAL,
    "leic-paper": replace(_OFFICIAL, name="leic-paper", least_count=5, cut="first-words", clip=0, epochs=10),
    "leic-flickr8k": replace(
        _OFFICIAL,
        name="leic-flickr8k",
        most_words=3_437,
        negatives=("pathological",),
        pathologies=("random-caption",),
        epochs=100,
        decay=0.98,
    ),
}


def as_critique_recipe(what: CritiqueRecipe | str | os.PathLike[str]) -> CritiqueRecipe:
    """A recipe by its name, or from a JSON or TOML file: a ``base`` and the fields that differ from it.

    Raises:
        UnknownNameError: neither the name of a recipe nor a file.
        ResourceError: a file that holds no recipe.
    """
    if isinstance(what, CritiqueRecipe):
        return what
    name = os.fspath(what)
    if name in CRITIQUE_RECIPES:
        return CRITIQUE_RECIPES[name]
    return changed_base(what, [*CRITIQUE_RECIPES], _changed, _HELP)


def _changed(base: str, content: dict[str, Any]) -> CritiqueRecipe:
    return CritiqueRecipe.from_dict({**CRITIQUE_RECIPES[base].to_dict(), **content})
