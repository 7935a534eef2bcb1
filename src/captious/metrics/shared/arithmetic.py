"""Arithmetic that metrics share: shares and F-measures, scores with several references, and the spread of captions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from captious.data import CaptionSets
from captious.data.rows import image_list
from captious.errors import ParameterError
from captious.metrics.contract.parameters import ChoiceParameter

Numbers: TypeAlias = NDArray[np.float64] | float

# Shares, and F-measures of two of them.


def share(part: ArrayLike, whole: ArrayLike, otherwise: ArrayLike = 0.0) -> NDArray[np.float64]:
    """Return part / whole, and ``otherwise`` where the whole is not positive, float64."""
    shape = np.broadcast_shapes(np.shape(part), np.shape(whole))
    return np.divide(part, whole, out=np.full(shape, otherwise, np.float64), where=np.asarray(whole) > 0)


def f_measure(precision: Numbers, recall: Numbers, beta: float = 1.0, otherwise: float = 0.0) -> NDArray[np.float64]:
    """Return the F-measure, in which recall has the weight beta; ``otherwise`` where precision and recall are 0."""
    return share((1 + beta**2) * precision * recall, recall + beta**2 * precision, otherwise)


# Combination of the scores with several references of an image: the mean, the best, or the worst.

_COMBINE: Mapping[str, np.ufunc] = {"mean": np.add, "max": np.maximum, "min": np.minimum}


class CombineParameter(ChoiceParameter):
    """Parameter for combining the scores of several references: "mean", "max" or "min"."""

    def __init__(self, *, default: str) -> None:
        super().__init__(
            default=default,
            choices=_COMBINE,
            refusal="{metric} cannot combine references by {value}",
            summary="how to combine several references",
        )


def combine_references(combine: str, scores: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return scores of images from those of their references.

    Args:
        combine: "mean", "max" or "min".
        scores: [n_references, ...], of any numbers.
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


def first_best(scores: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the reference of each image with the best score, the first of several: from n_references scores to
    int64[n_images].
    """
    best = np.repeat(np.maximum.reduceat(scores, offsets[:-1]), np.diff(offsets))
    rows = np.flatnonzero(scores == best)
    return np.asarray(rows[np.searchsorted(rows, offsets[:-1])])


# The spread of the energy of a set of captions: the measure of self-CIDEr and LSA (Wang and Chan 2019).

#: The most candidates of an image. All pairs of them are compared, and eigenvalues take their third power.
MOST = 1_000


def spread(values: NDArray[np.float64], m: int) -> NDArray[np.float64]:
    """Return -ln(max / sum) / ln m of the singular values of each image.

    Args:
        values: float64[n_images, any number], nonnegative.
        m: number of candidates, at least 2.

    Returns:
        float64[n_images], 0 if only one value is positive, 1 if m values are equal; nan if all values are 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(-np.log(values.max(axis=1) / values.sum(axis=1)) / np.log(m)) + 0.0


def check_candidates(name: str, sets: CaptionSets) -> None:
    """Refuse images with more than ``MOST`` candidates.

    Raises:
        ParameterError: names the image.
    """
    counts = sets.counts
    if (most := int(counts.max(initial=0))) > MOST:
        raise ParameterError(
            f"{name} compares all candidates of an image with each other, at most {MOST:,}; there are {most:,}",
            where=f"{sets.candidates.name}: {image_list([sets.ids[int(counts.argmax())]])}",
            hint="score fewer candidates per image, or leave this metric out",
        )
