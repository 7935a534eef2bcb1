"""How scores against the references of an image become one score: the mean, the best, or the worst."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from captious.errors import UnknownNameError

__all__ = ["checked_combine", "combined"]

_COMBINE: Mapping[str, np.ufunc] = {"mean": np.add, "max": np.maximum, "min": np.minimum}


def checked_combine(metric: str, combine: str) -> str:
    """The name of a way to combine references.

    Raises:
        UnknownNameError: anything else.
    """
    if combine not in _COMBINE:
        raise UnknownNameError(f"{metric} cannot combine references by {combine!r}", help=f"give {', '.join(_COMBINE)}")
    return combine


def combined(combine: str, scores: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Scores of images from those of their references.

    Args:
        combine: "mean", "max" or "min".
        scores: float64[n_references, ...].
        offsets: int64[n_images + 1]; every image has a reference.

    Returns:
        float64[n_images, ...]
    """
    if len(offsets) == 1:
        return scores[:0]
    found = _COMBINE[combine].reduceat(scores, offsets[:-1], axis=0)
    if combine != "mean":
        return np.asarray(found)
    return np.asarray(found / np.diff(offsets).reshape(-1, *[1] * (scores.ndim - 1)))
