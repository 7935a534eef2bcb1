"""Recipes for training a network over features.

``nneval`` and ``lceval`` are those of the papers, ``lceval-logistic`` that of LCEval's repository, whose published
checkpoints have no hidden layer. Details that the papers omit are taken from the repositories.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from captious.errors import ParameterError
from captious.learned.networks.feature_sets import FeatureSet, as_feature_set
from captious.learned.recipe_files import AnyRecipe, choice, number, read_recipe, whole

#: Distributions of initial weights, biases being 0: normal with variance 2 / n_in, and uniform with
#: variance 2 / (n_in + n_out).
INITIALIZATIONS = ("he-normal", "glorot-uniform")
#: The metrics that take weights.
METRICS = ("nneval", "lceval")
_HELP = 'write {"base": "lceval", "name": "mine", "hidden": [24, 12]}, with any fields of the recipe'


@dataclass(frozen=True)
class Recipe(AnyRecipe):
    """A training recipe: the network, the loss, and when to stop.

    Args:
        name: name of the recipe.
        features: input of the network.
        hidden: widths of hidden layers, with ReLU.
        metric: the metric to train, one of ``METRICS``.
        initialization: one of ``INITIALIZATIONS``.
        l2: weight of half the sum of squared weights, without biases, which is added to the mean cross-entropy.
        learning_rate: learning rate of Adam.
        batch_size: examples per step; the last batch of an epoch may be smaller.
        epochs: maximum number of epochs.
        patience: number of epochs without a better validation tau after which to stop.
        seed: random seed of weights and batches.

    Raises:
        ParameterError: an invalid value.
    """

    features: FeatureSet
    hidden: tuple[int, ...]
    metric: str = choice(METRICS, refusal="no metric {value!r:.60} takes weights")
    initialization: str = choice(INITIALIZATIONS, refusal="there is no initialization {value!r:.60}")
    l2: float = number(0, 1e6)
    learning_rate: float = number(1e-12, 1e3)
    batch_size: int = whole(1, 1 << 31)
    epochs: int = whole(1, 1_000_000)
    patience: int = whole(1, 1_000_000)
    seed: int = whole(0, (1 << 63) - 1, 123)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(isinstance(n, int) and not isinstance(n, bool) and 0 < n <= 4096 for n in self.hidden):
            raise ParameterError(f"invalid hidden layers {self.hidden!r:.60}", help="give widths from 1 to 4,096")
        if len(self.hidden) > 16:
            raise ParameterError(f"{len(self.hidden)} hidden layers are too many", help="give at most 16")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Width of the input and of each layer."""
        return (len(self.features), *self.hidden, 2)

    def spread(self, n_in: int, n_out: int) -> float:
        """Return the standard deviation of normal, or the bound of uniform initial weights of a layer."""
        return math.sqrt(2 / n_in) if self.initialization == "he-normal" else math.sqrt(6 / (n_in + n_out))

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "features": self.features.to_dict()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        features = content["features"]
        features = FeatureSet.from_dict(features) if isinstance(features, dict) else as_feature_set(str(features))
        if not isinstance(content["hidden"], list):
            raise ParameterError("hidden must be a list of widths", help=_HELP)
        return super().from_dict({**content, "features": features})


_BUILT_IN: Mapping[str, Mapping[str, Any]] = {
    "nneval": {
        "hidden": (72, 72),
        "initialization": "he-normal",
        "batch_size": 6650,
        "epochs": 700,
        "patience": 700,
    },
    "lceval": {
        "hidden": (12,),
        "initialization": "glorot-uniform",
        "batch_size": 75,
        "epochs": 800,
        "patience": 50,
    },
    "lceval-logistic": {
        "hidden": (),
        "initialization": "he-normal",
        "batch_size": 13300,
        "epochs": 1000,
        "patience": 1000,
    },
}
#: The names of the built-in recipes.
RECIPES = tuple(_BUILT_IN)


def _built_in(name: str) -> Recipe:
    metric = name.partition("-")[0]
    return Recipe(name, as_feature_set(metric), metric=metric, l2=1e-4, learning_rate=5e-4, **_BUILT_IN[name])


def as_recipe(what: Recipe | str | os.PathLike[str]) -> Recipe:
    """Return a recipe by its name, or from a JSON or TOML file with a ``base`` and the fields that differ from it.

    ``features`` is the name of a set, a file, or an object for ``FeatureSet.from_dict``.

    Raises:
        UnknownNameError: neither the name of a recipe nor a file.
        ResourceError: a file without a recipe.
    """
    return what if isinstance(what, Recipe) else read_recipe(what, RECIPES, _built_in, _HELP)
