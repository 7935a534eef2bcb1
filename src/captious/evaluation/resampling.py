"""Resampling of images: bootstrap and random exchange as matrix products with statistics.

Because a corpus score is a function of summed statistics, a resampled corpus is a row of counts times the matrix
of statistics. Everything is determined by the seed and the number of images, so two systems on the same images
see the same resamples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError

__all__ = ["MOST_RESAMPLES", "bootstrap_sums", "check_sampling", "check_seed", "exchange_sums", "holm", "interval"]

#: The largest number of resamples: all are in memory at once, a few hundred bytes each.
MOST_RESAMPLES = 1_000_000

_BLOCK_ELEMENTS = 4_000_000  # of the matrix of counts that is held at a time
_MOST_KEPT = 64_000_000  # elements of a whole matrix of counts, a byte each, that is kept for the next metric


def check_sampling(resamples: object, seed: object, level: float | None = None) -> None:
    """Check the parameters of intervals and tests.

    Args:
        resamples: an integer from 1 to ``MOST_RESAMPLES``.
        seed: a random seed.
        level: confidence level of intervals, between 0 and 1, if it can be chosen.

    Raises:
        ParameterError: one of them is out of range.
    """
    check_seed(seed)
    if level is not None and not 0 < level < 1:
        raise ParameterError(f"{level} is not a confidence level", help="give a level between 0 and 1, such as 0.95")
    if not isinstance(resamples, int) or not 1 <= resamples <= MOST_RESAMPLES:
        raise ParameterError(
            f"{resamples!r} is not a number of resamples", help=f"give 1 to {MOST_RESAMPLES:,}; 1,000 is usual"
        )


def check_seed(seed: object) -> None:
    """Check a random seed.

    Raises:
        ParameterError: not a non-negative integer.
    """
    if not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"{seed!r} is not a random seed", help="give a whole number, 0 or more")


def bootstrap_sums(statistics: NDArray[np.float64], *, resamples: int, seed: int) -> NDArray[np.float64]:
    """Sums of statistics over images drawn with replacement (Efron 1979).

    Args:
        statistics: float64[n, k].

    Returns:
        float64[resamples, k].
    """
    n = len(statistics)
    counts = _kept_counts(n, resamples, seed) if n * resamples <= _MOST_KEPT else _counts(n, resamples, seed)
    return _weighted_sums(statistics, resamples, iter(counts))


def _counts(n: int, resamples: int, seed: int) -> Iterator[NDArray[np.integer[Any]]]:
    """How often each of n images is drawn, resample by resample."""
    rng = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.bincount(rng.integers(0, n, n, dtype=np.int32), minlength=n)


@lru_cache(maxsize=1)
def _kept_counts(n: int, resamples: int, seed: int) -> NDArray[np.uint8]:
    """The same as a matrix. Metrics are usually resampled one after the other on the same images."""
    kept = np.empty((resamples, n), np.uint8)  # that an image is drawn more than 255 times does not happen
    for row, counts in zip(kept, _counts(n, resamples, seed), strict=True):
        row[:] = counts
    return kept


def exchange_sums(difference: NDArray[np.float64], *, resamples: int, seed: int) -> NDArray[np.float64]:
    """Sums of statistics differences over random halves of the images (approximate randomization, Noreen 1989).

    Adding a row of the result to system A's sum, and subtracting it from B's, exchanges the two systems' candidates
    on the images of that half.

    Args:
        difference: statistics of B minus those of A, float64[n, k].

    Returns:
        float64[resamples, k].
    """
    n = len(difference)
    rng = np.random.default_rng(seed)
    halves = (np.unpackbits(np.frombuffer(rng.bytes((n + 7) // 8), np.uint8), count=n) for _ in range(resamples))
    return _weighted_sums(difference, resamples, halves)


def _weighted_sums(
    rows: NDArray[np.float64], resamples: int, weights: Iterator[NDArray[np.integer[Any]]]
) -> NDArray[np.float64]:
    """Sums of rows, each times its weight in a resample: float64[n, k] to float64[resamples, k]."""
    sums = np.empty((resamples, rows.shape[1]))
    step = max(1, _BLOCK_ELEMENTS // len(rows))
    block = np.empty((min(step, resamples), len(rows)))
    for begin in range(0, resamples, step):
        used = block[: min(step, resamples - begin)]
        for row in used:
            row[:] = next(weights)
        sums[begin : begin + len(used)] = used @ rows
    return sums


def interval(values: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Percentile interval of resampled values: float64[resamples, ...] to float64[2, ...].

    A resample without a single image that has a score (nan) does not count.
    """
    tail = (1 - level) / 2
    if not np.isnan(values).any():
        return np.asarray(np.quantile(values, [tail, 1 - tail], axis=0))
    if values.ndim > 1:
        return np.stack([interval(values[:, i], level) for i in range(values.shape[1])], axis=1)
    there = values[~np.isnan(values)]
    return interval(there, level) if len(there) else np.full(2, np.nan)


def holm(p_values: Sequence[float]) -> list[float]:
    """p values with Holm's correction for their number (Holm 1979); those that are not numbers (nan) do not count."""
    order = sorted((i for i, p in enumerate(p_values) if not np.isnan(p)), key=lambda i: p_values[i])
    corrected = [np.nan] * len(p_values)
    largest = 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * p_values[i]))
        corrected[i] = largest
    return corrected
