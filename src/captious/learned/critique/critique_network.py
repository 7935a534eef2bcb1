"""The network of a critique in numpy, used for scoring.

An LSTM reads reference and candidate. Each is encoded as the output at the end mark. Context and candidate are combined
by a linear layer, by a hidden layer with ReLU, or by compact bilinear pooling (Gao et al. 2016); softmax over two
classes gives the probability that a person wrote the candidate.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, rfft
from scipy.sparse import csr_matrix

from captious.errors import ParameterError
from captious.learned.critique.critique_recipes import CritiqueRecipe
from captious.learned.critique.critique_vocabulary import END, FIRST_WORD

_ROWS = 256  # rows per matrix product; another number changes a caption's vector in the last bits of single precision
_SEEDS = {"context": (1, 3), "candidate": (5, 7)}  # seeds of the official code: hash, sign


def shapes(recipe: CritiqueRecipe, n_words: int, image_width: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of each array of a network."""
    gates, n_context = 4 * recipe.units, recipe.units * (2 if recipe.images == "context" else 1)
    layers: dict[str, tuple[int, ...]] = {"embedding": (n_words + FIRST_WORD, recipe.width)}
    for number, name in enumerate(lstms(recipe)):
        width = recipe.units if number else recipe.width
        layers |= {f"{name}.input": (gates, width), f"{name}.state": (gates, recipe.units), f"{name}.bias": (gates,)}
    if recipe.images != "none":
        layers |= {"image.weight": (recipe.units, image_width), "image.bias": (recipe.units,)}
    joint = recipe.pooled if recipe.combination == "bilinear" else n_context + recipe.units
    if recipe.combination == "mlp":
        layers |= {"hidden.weight": (recipe.hidden, joint), "hidden.bias": (recipe.hidden,)}
        joint = recipe.hidden
    return layers | {"output.weight": (2, joint), "output.bias": (2,)}


def lstms(recipe: CritiqueRecipe) -> list[str]:
    """Return the array prefix of each LSTM layer, the lowest first."""
    return ["lstm", *(f"lstm{number}" for number in range(2, recipe.layers + 1))]


def ends(numbers: NDArray[np.int32], cut: str) -> NDArray[np.int64]:
    """Return the step at which each caption is encoded: its end mark; without one the last step, or -1 if cut is
    "zeros".
    """
    is_end = numbers == END
    return np.where(is_end.any(axis=1), is_end.argmax(axis=1), -1 if cut == "zeros" else numbers.shape[1] - 1)


def sketch(which: str, n_in: int, n_out: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the count sketch of an input of bilinear pooling: the position of each number, and its sign."""
    places, signs = _SEEDS[which]
    to = np.random.RandomState(places).randint(n_out, size=n_in).astype(np.int64)
    return to, (2 * np.random.RandomState(signs).randint(2, size=n_in) - 1).astype(np.float32)


class Critique:
    """A trained network.

    Args:
        recipe: the training recipe, which determines the layers.
        arrays: float32 arrays of the layers, with the names and shapes of ``shapes``. The gates of the LSTM are input,
            forget, new value and output.

    Raises:
        ParameterError: arrays of other names or shapes, or numbers that are not finite.
    """

    def __init__(self, recipe: CritiqueRecipe, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        self.recipe, self.arrays = recipe, dict(arrays)
        n_words = len(arrays.get("embedding", ())) - FIRST_WORD
        image = arrays.get("image.weight", np.empty((0, 0))).shape[-1]
        expected = shapes(recipe, n_words, image)
        if {name: array.shape for name, array in arrays.items()} != expected or n_words < 0:
            raise ParameterError("these arrays are not the network of the recipe", help="train the critique again")
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise ParameterError("a weight is not finite", help="train the critique again")

    @property
    def image_width(self) -> int:
        """Number of features of an image; 0 if images are not used."""
        return 0 if self.recipe.images == "none" else int(self.arrays["image.weight"].shape[1])

    def sentences(self, numbers: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return vectors of captions, int32[n, length] to float32[n, units]."""
        last = ends(numbers, self.recipe.cut)
        vectors = np.zeros((len(numbers), self.recipe.units), np.float32)
        order = np.argsort(last, kind="stable")
        for start in range(0, len(order), _ROWS):
            rows = order[start : start + _ROWS]
            vectors[rows] = self._read(_filled(numbers[rows]), _filled(last[rows]))[: len(rows)]
        return vectors

    def humans(
        self,
        candidates: NDArray[np.float32],
        references: NDArray[np.float32] | None,
        images: NDArray[np.float32] | None,
    ) -> NDArray[np.float64]:
        """Return the probability that a person wrote each candidate, float64[n].

        Args:
            candidates: sentence vectors, float32[n, units].
            references: vectors of one reference each; None if references are not used.
            images: features of images, float32[n, image_width]; None if images are not used.
        """
        probabilities = np.empty(len(candidates))
        for start in range(0, len(candidates), _ROWS):
            batch = slice(start, start + _ROWS)
            inputs = [None if array is None else _filled(array[batch]) for array in (candidates, references, images)]
            n = len(candidates[batch])
            probabilities[batch] = self._human(*inputs)[:n]  # type: ignore[arg-type]
        return probabilities

    def _read(self, numbers: NDArray[np.int32], last: NDArray[np.int64]) -> NDArray[np.float32]:
        arrays, units, names = self.arrays, self.recipe.units, lstms(self.recipe)
        outputs = np.zeros((len(numbers), units), np.float32)
        states = {name: (outputs.copy(), outputs.copy()) for name in names}
        for step in range(int(last.max(initial=-1)) + 1):
            read = arrays["embedding"][numbers[:, step]]
            for name in names:
                state, cell = states[name]
                gates = read @ arrays[f"{name}.input"].T
                gates += state @ arrays[f"{name}.state"].T
                gates += arrays[f"{name}.bias"]
                update, keep, new, out = (gates[:, i * units : (i + 1) * units] for i in range(4))
                cell = _sigmoid(keep) * cell + _sigmoid(update) * np.tanh(new)
                read = _sigmoid(out) * np.tanh(cell)
                states[name] = read, cell
            outputs[last == step] = read[last == step]
        return outputs

    def _human(
        self,
        candidates: NDArray[np.float32],
        references: NDArray[np.float32] | None,
        images: NDArray[np.float32] | None,
    ) -> NDArray[np.float64]:
        arrays, recipe = self.arrays, self.recipe
        parts = []
        if images is not None:
            parts.append(images @ arrays["image.weight"].T + arrays["image.bias"])
        if references is not None:
            parts.append(references)
        context = np.concatenate(parts, axis=1)
        if recipe.combination == "bilinear":
            joint = self._pooled(context, candidates)
        else:
            joint = np.concatenate([context, candidates], axis=1)
        if recipe.combination == "mlp":
            joint = np.maximum(joint @ arrays["hidden.weight"].T + arrays["hidden.bias"], 0)
        logits = (joint @ arrays["output.weight"].T + arrays["output.bias"]).astype(np.float64)
        return np.asarray(1 / (1 + np.exp(logits[:, 1] - logits[:, 0])))

    def _pooled(self, context: NDArray[np.float32], candidates: NDArray[np.float32]) -> NDArray[np.float32]:
        first, second = self._sketches
        product = rfft((first @ context.T).T, axis=1) * rfft((second @ candidates.T).T, axis=1)
        return np.asarray(irfft(product, self.recipe.pooled, axis=1), np.float32)

    @cached_property
    def _sketches(self) -> tuple[csr_matrix, csr_matrix]:
        units, pooled = self.recipe.units, self.recipe.pooled
        matrices = []
        for which, n_in in (("context", units * (2 if self.recipe.images == "context" else 1)), ("candidate", units)):
            to, signs = sketch(which, n_in, pooled)
            matrices.append(csr_matrix((signs, (to, np.arange(n_in))), shape=(pooled, n_in)))
        return matrices[0], matrices[1]


def _filled(rows: NDArray[Any]) -> NDArray[Any]:
    """Pad rows with as many zeros as a matrix product needs."""
    if len(rows) == _ROWS:
        return rows
    return np.concatenate([rows, np.zeros((_ROWS - len(rows), *rows.shape[1:]), rows.dtype)])


def _sigmoid(values: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(np.float32(0.5) * np.tanh(np.float32(0.5) * values) + np.float32(0.5))
