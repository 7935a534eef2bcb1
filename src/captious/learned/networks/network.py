"""Dense networks in numpy, used for scoring by trained metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError

#: The class whose probability is the score: 0 is a machine's caption, 1 a human's.
HUMAN = 1


@dataclass(frozen=True, eq=False)
class Network:
    """Dense layers with ReLU between them and softmax at the end.

    Args:
        weights: float64[n_in, n_out] of each layer.
        biases: float64[n_out] of each layer.

    Raises:
        ParameterError: no layers, shapes that do not fit together, other than two classes, or numbers that are not
            finite.
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]

    def __post_init__(self) -> None:
        for name in ("weights", "biases"):
            arrays = [np.array(array, np.float64) for array in getattr(self, name)]
            for array in arrays:
                array.flags.writeable = False
            object.__setattr__(self, name, tuple(arrays))
        if not _fits(self.weights, self.biases):
            shapes = ", ".join(str(array.shape) for array in self.weights)
            raise ParameterError(
                "these layers are not a network of two classes",
                where=f"shapes of weights: {shapes or 'none'}",
                help="each layer takes what the layer before it gives, and the last one gives 2",
            )
        if not all(np.isfinite(array).all() for array in (*self.weights, *self.biases)):
            raise ParameterError("a weight is not finite", help="train the network again")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Width of the input and of each layer, such as (8, 72, 72, 2)."""
        return (len(self.weights[0]), *(len(layer) for layer in self.biases))

    def logits(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the input of the softmax: float64[..., n_features] to float64[..., 2].

        Each row is computed separately, so its bits do not depend on other rows, unlike those of a matrix product.
        """
        values = features
        for layer, (weights, biases) in enumerate(zip(self.weights, self.biases, strict=True)):
            if layer:
                values = np.maximum(values, 0)
            total = np.broadcast_to(biases, (*values.shape[:-1], len(biases))).copy()
            for column, row in enumerate(weights):
                total += values[..., column, None] * row
            values = total
        return values

    def probabilities(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities of both classes, float64[..., n_features] to float64[..., 2]."""
        logits = self.logits(features)
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True))

    def human(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability that a person wrote the caption, float64[..., n_features] to float64[...]."""
        return np.asarray(self.probabilities(features)[..., HUMAN])


def _fits(weights: Sequence[NDArray[np.float64]], biases: Sequence[NDArray[np.float64]]) -> bool:
    if not weights or len(weights) != len(biases):
        return False
    if any(
        w.ndim != 2 or b.ndim != 1 or not w.size or w.shape[1] != len(b) for w, b in zip(weights, biases, strict=True)
    ):
        return False
    inner = all(a.shape[1] == b.shape[0] for a, b in pairwise(weights))
    return inner and weights[-1].shape[1] == 2
