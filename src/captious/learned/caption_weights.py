"""The weights of the metric ``captious``: vectors of words, the model of junctions, and how features make a score.

Vectors are stored as 8-bit integers with one scale per word. The file is a safetensors file; its metadata say how it
was made.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.learned.weight_files import packed, read_caption_weights, unpacked, write_caption_weights

__all__ = ["BUNDLED", "END", "FEATURES", "FIRST_WORD", "START", "UNKNOWN", "CaptionWeights"]

#: The weights that the package ships.
BUNDLED = Path(__file__).parent / "weights" / "captious.safetensors"

#: Rows of the model of junctions before those of the words.
UNKNOWN, START, END, FIRST_WORD = 0, 1, 2, 3

#: What a score is computed from, in the order of ``CaptionWeights.coefficients``.
FEATURES = ("centroid", "closest", "sparcs", "slips")

_HELP = "use weights that training/captious/train.py wrote"


@dataclass(frozen=True, eq=False)
class CaptionWeights:
    """Weights of the metric ``captious``.

    Args:
        words: n distinct tokens.
        vectors: of the words, weighted, float32[n, width].
        left, right: what words say about the junctions to their right and left, float32[n + 3, k + 1]: vectors, and a
            bias; the first rows are those of an unknown word, of the start and of the end.
        soundness: mean log-probability of the junctions of human captions: their 5th percentile and standard deviation.
        bias, coefficients: of the logistic function of the features, float64[4].
        about: how the weights were made.
        name: what signatures call them.
    """

    words: tuple[str, ...]
    vectors: NDArray[np.float32]
    left: NDArray[np.float32]
    right: NDArray[np.float32]
    soundness: tuple[float, float]
    bias: float
    coefficients: NDArray[np.float64]
    about: Mapping[str, Any]
    name: str

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the weights as a safetensors file.

        Raises:
            OutputError: the file cannot be written.
        """
        tensors: dict[str, NDArray[Any]] = {"words": np.frombuffer("\n".join(self.words).encode(), np.uint8)}
        for name in ("vectors", "left", "right"):
            tensors[name], tensors[f"{name}.scales"] = packed(getattr(self, name))
        tensors["soundness"] = np.array(self.soundness)
        tensors["score"] = np.array([self.bias, *self.coefficients])
        write_caption_weights(path, tensors, "about", self.about)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> CaptionWeights:
        """Read weights; None for those of the package.

        Raises:
            ResourceError: the file cannot be read, or holds other weights.
        """
        if path is None:
            return _bundled()
        return read_caption_weights(Path(path), "about", _from_tensors, what="the metric captious", help=_HELP)


@cache
def _bundled() -> CaptionWeights:
    return CaptionWeights.load(BUNDLED)


def _from_tensors(tensors: dict[str, NDArray[Any]], about: Any, name: str) -> CaptionWeights:
    words = tuple(tensors["words"].tobytes().decode().split("\n"))
    vectors, left, right = (unpacked(tensors[n], tensors[f"{n}.scales"]) for n in ("vectors", "left", "right"))
    soundness, score = tensors["soundness"], tensors["score"]
    rows = len(words) + FIRST_WORD
    sound = (
        len(set(words)) == len(words) == len(vectors)
        and vectors.ndim == left.ndim == right.ndim == 2
        and len(left) == len(right) == rows
        and left.shape == right.shape
        and soundness.shape == (2,)
        and score.shape == (1 + len(FEATURES),)
        and all(np.isfinite(array).all() for array in (vectors, left, right, soundness, score))
        and soundness[1] > 0
        and isinstance(about, dict)
    )
    if not sound:
        raise ValueError("shapes do not match")
    limits = float(soundness[0]), float(soundness[1])
    return CaptionWeights(words, vectors, left, right, limits, float(score[0]), score[1:], about, name)
