"""Combination of the scores with several references of an image: the mean, the best, or the worst."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from captious.metrics.contract.parameters import ChoiceParameter

_COMBINE: Mapping[str, np.ufunc] = {"mean": np.add, "max": np.maximum, "min": np.minimum}


class CombineParameter(ChoiceParameter):
    """Parameter for combining the scores of several references: "mean", "max" or "min"."""

    def __init__(self, *, default: str, summary: str = "how to combine several references") -> None:
        super().__init__(
            default=default,
            choices=_COMBINE,
            refusal="{metric} cannot combine references by {value!r}",
            summary=summary,
        )


def combine_references(combine: str, scores: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return scores of images from those of their references.

    Args:
        combine: "mean", "max" or "min".
        scores: float64[n_references, ...].
        offsets: int64[n_images + 1]; every image has a reference.

    Returns:
        float64[n_images, ...]
    """
    if len(offsets) == 1:
        return scores[:0]
    totals = _COMBINE[combine].reduceat(scores, offsets[:-1], axis=0)
    if combine != "mean":
        return np.asarray(totals)
    return np.asarray(totals / np.diff(offsets).reshape(-1, *[1] * (scores.ndim - 1)))
