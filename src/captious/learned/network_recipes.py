"""Recipes: how a network over features is trained.

``nneval`` and ``lceval`` are those of the papers, ``lceval-logistic`` that of LCEval's repository, whose published
checkpoints have no hidden layer. What papers do not say is taken from the repositories.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from captious.errors import ParameterError
from captious.learned.feature_sets import FeatureSet, as_feature_set
from captious.learned.recipe_files import changed_base, check_fields

__all__ = ["INITIALISATIONS", "METRICS", "RECIPES", "Recipe", "as_recipe"]

#: What the weights of layers are drawn from, biases being 0: normal with variance 2 / n_in, and uniform with
#: variance 2 / (n_in + n_out).
INITIALISATIONS = ("he-normal", "glorot-uniform")
#: The metrics that take weights.
METRICS = ("nneval", "lceval")
_HELP = 'write {"base": "lceval", "name": "mine", "hidden": [24, 12]}, with any fields of the recipe'
_LIMITS: Mapping[str, tuple[float, float]] = {
    "l2": (0, 1e6),
    "learning_rate": (1e-12, 1e3),
    "batch_size": (1, 1 << 31),
    "epochs": (1, 1_000_000),
    "patience": (1, 1_000_000),
    "seed": (0, (1 << 63) - 1),
}


@dataclass(frozen=True)
class Recipe:
    """How to train: the network, the loss, and when to stop.

    Args:
        name: of the recipe.
        metric: the metric that the weights are for, one of ``METRICS``.
        features: what the network takes.
        hidden: widths of hidden layers, with ReLU.
        initialisation: one of ``INITIALISATIONS``.
        l2: weight of half the sum of squared weights, without biases, beside the mean cross-entropy.
        learning_rate: of Adam.
        batch_size: examples of a step; the last of an epoch may be smaller.
        epochs: at most so many.
        patience: training stops after so many epochs without a better validation tau.
        seed: random seed of weights and batches.

    Raises:
        ParameterError: a value that a field does not take.
    """

    name: str
    metric: str
    features: FeatureSet
    hidden: tuple[int, ...]
    initialisation: str
    l2: float
    learning_rate: float
    batch_size: int
    epochs: int
    patience: int
    seed: int = 123

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise ParameterError(f"no metric {self.metric!r:.60} takes weights", help=f"give {' or '.join(METRICS)}")
        if self.initialisation not in INITIALISATIONS:
            raise ParameterError(
                f"there is no initialisation {self.initialisation!r:.60}", help=f"give {' or '.join(INITIALISATIONS)}"
            )
        check_fields(self, _LIMITS, ("l2", "learning_rate"))
        if not all(isinstance(n, int) and not isinstance(n, bool) and 0 < n <= 4096 for n in self.hidden):
            raise ParameterError(f"invalid hidden layers {self.hidden!r:.60}", help="give widths from 1 to 4,096")
        if len(self.hidden) > 16:
            raise ParameterError(f"{len(self.hidden)} hidden layers are too many", help="give at most 16")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Width of the input and of each layer."""
        return (len(self.features), *self.hidden, 2)

    def spread(self, n_in: int, n_out: int) -> float:
        """Standard deviation of normal, or bound of uniform initial weights of a layer."""
        return math.sqrt(2 / n_in) if self.initialisation == "he-normal" else math.sqrt(6 / (n_in + n_out))

    def to_dict(self) -> dict[str, Any]:
        """As it is written in files."""
        return {**asdict(self), "features": self.features.to_dict(), "hidden": list(self.hidden)}


#: The names of the built-in recipes.
RECIPES = ("nneval", "lceval", "lceval-logistic")


def _built_in(name: str) -> Recipe:
    if name == "nneval":
        return Recipe(
            name="nneval",
            metric="nneval",
            features=as_feature_set("nneval"),
            hidden=(72, 72),
            initialisation="he-normal",
            l2=1e-4,
            learning_rate=5e-4,
            batch_size=6650,
            epochs=700,
            patience=700,
        )
    lceval = Recipe(
        name="lceval",
        metric="lceval",
        features=as_feature_set("lceval"),
        hidden=(12,),
        initialisation="glorot-uniform",
        l2=1e-4,
        learning_rate=5e-4,
        batch_size=75,
        epochs=800,
        patience=50,
    )
    if name == "lceval":
        return lceval
    logistic = {"hidden": (), "initialisation": "he-normal", "batch_size": 13300, "epochs": 1000, "patience": 1000}
    return replace(lceval, name=name, **logistic)  # type: ignore[arg-type]


def as_recipe(what: Recipe | str | os.PathLike[str]) -> Recipe:
    """A recipe by its name, or from a JSON or TOML file: a ``base`` and the fields that differ from it.

    ``features`` is the name of a set, a file, or an object as ``FeatureSet.from_dict`` takes it.

    Raises:
        UnknownNameError: neither the name of a recipe nor a file.
        ResourceError: a file that holds no recipe.
    """
    if isinstance(what, Recipe):
        return what
    name = os.fspath(what)
    if name in RECIPES:
        return _built_in(name)
    return changed_base(what, RECIPES, _changed, _HELP)


def _changed(base: str, content: dict[str, Any]) -> Recipe:
    names = {field.name for field in fields(Recipe)}
    if unknown := {*content} - names:
        raise ParameterError(
            f"a recipe has no {sorted(unknown)[0]!r:.60}", help=f"its fields: {', '.join(sorted(names))}"
        )
    if "features" in content:
        features = content["features"]
        content["features"] = (
            FeatureSet.from_dict(features) if isinstance(features, dict) else as_feature_set(str(features))
        )
    if "hidden" in content:
        if not isinstance(content["hidden"], list):
            raise ParameterError("hidden must be a list of widths", help=_HELP)
        content["hidden"] = tuple(content["hidden"])
    return replace(_built_in(base), **content)
