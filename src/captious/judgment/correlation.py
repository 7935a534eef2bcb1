"""Correlations of scores with judgments and with each other: one by scipy, many by the native kernels.

A caption may have several ratings, each of which is a point. Captions that are resampled together (all captions of an
image) are a unit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from captious.native import kendall_exchanged, kendall_resampled, threads
from captious.statistics import Sampling

#: The statistics that compare scores with ratings.
Statistic: TypeAlias = Literal["kendall-tau-b", "kendall-tau-c", "spearman", "pearson"]
STATISTICS: tuple[str, ...] = get_args(Statistic)
#: Kendall's tau-b among the captions of each unit, averaged over units; 0 for a unit in which it is undefined.
BY_IMAGE = "kendall-tau-b-by-image"
_BATCH = 100  # resamples at a time


def bootstrap(
    statistic: Callable[[NDArray[np.int32]], NDArray[np.float64]], n: int, sampling: Sampling
) -> NDArray[np.float64]:
    """Return a statistic in each resample of n units, float64[resamples].

    The seed determines the units of a resample, so values of two statistics can be compared one by one.

    Args:
        statistic: returns its values, float64[k], for the counts of each unit in k resamples, int32[k, n].
    """
    rng = np.random.default_rng(sampling.seed)
    sizes = [min(_BATCH, sampling.resamples - start) for start in range(0, sampling.resamples, _BATCH)]
    counts = (rng.multinomial(n, np.full(n, 1 / n), size).astype(np.int32) for size in sizes)
    return np.concatenate([*map(statistic, counts)])


def correlation(statistic: str, scores: NDArray[np.float64], ratings: NDArray[np.float64]) -> float:
    """Return a correlation, as scipy computes it, or the average precision; NaN if one side is constant.

    Args:
        statistic: one of ``STATISTICS``, or average-precision.
        scores, ratings: float64[n].
    """
    if len(scores) < 2 or np.ptp(scores) == 0 or np.ptp(ratings) == 0:
        return float("nan")
    if statistic == "average-precision":
        return float(average_precision(scores, ratings))
    return float(_tested(statistic, scores, ratings).statistic)


def _tested(statistic: str, scores: NDArray[np.float64], ratings: NDArray[np.float64]) -> Any:
    from scipy import stats

    if statistic.startswith("kendall"):
        return stats.kendalltau(scores, ratings, variant=statistic[-1])
    return (stats.spearmanr if statistic == "spearman" else stats.pearsonr)(scores, ratings)


def p_of_none(statistic: str, scores: NDArray[np.float64], ratings: NDArray[np.float64]) -> float:
    """Return the two-sided p of no correlation, as scipy computes it for n independent points; NaN if one side is
    constant.

    Args:
        statistic: one of ``STATISTICS``.
        scores, ratings: float64[n].
    """
    if len(scores) < 3 or np.ptp(scores) == 0 or np.ptp(ratings) == 0:
        return float("nan")
    return float(_tested(statistic, scores, ratings).pvalue)


def average_precision(
    scores: NDArray[np.float64], ratings: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the average precision of low scores in retrieving the captions rated 0.

    Captions are ordered by score, lowest first; equal scores form one step, as in scikit-learn.

    Args:
        scores: float64[n].
        ratings: float64[n], 0 for captions to retrieve, such as those with hallucinations, 1 for others.
        weights: float64[..., n], the count of each caption; by default 1.

    Returns:
        float64[...], 0 to 1; nan if no captions, or all, are to be retrieved.
    """
    order = np.argsort(scores, kind="stable")
    steps = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    counted = (np.ones(len(scores)) if weights is None else weights)[..., order]
    hits = np.cumsum(counted * (ratings[order] == 0), axis=-1)[..., steps]
    retrieved = np.cumsum(counted, axis=-1)[..., steps]
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(retrieved > 0, hits / retrieved, 0.0)
        value = (np.diff(hits, axis=-1, prepend=0.0) * precision).sum(axis=-1) / hits[..., -1]
    return np.asarray(np.where(hits[..., -1] < retrieved[..., -1], value, np.nan))


class Points:
    """Ratings of captions, prepared for repeated correlation with scores.

    Args:
        ratings: one array of ratings per caption.
        units: int[n_captions], from 0; captions of one unit are resampled, or exchanged, together.
        statistic: one of ``STATISTICS``, average-precision, or ``BY_IMAGE``.
    """

    def __init__(self, ratings: list[NDArray[np.float64]], units: NDArray[np.int64], statistic: str) -> None:
        self.statistic = statistic
        self.ratings = np.concatenate(ratings) if ratings else np.zeros(0)
        self.counts = np.array([len(of_caption) for of_caption in ratings], np.int64)
        self.units = np.asarray(units, np.int64)
        self.n_units = int(self.units.max(initial=-1)) + 1
        self._offsets = np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int32)
        self._ranks = np.unique(self.ratings, return_inverse=True)[1].astype(np.int32)

    def __len__(self) -> int:
        """Return the number of points: ratings, not captions."""
        return len(self.ratings)

    def value(self, scores: NDArray[np.float64]) -> float:
        """Return the correlation of scores float64[n_captions] with the ratings."""
        if self.statistic == BY_IMAGE:
            return float(self._unit_correlations(scores)[np.unique(self.units)].mean())
        return correlation(self.statistic, np.repeat(scores, self.counts), self.ratings)

    def resampled(self, scores: NDArray[np.float64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the correlation for units drawn with counts int32[n, n_units]; float64[n]."""
        if self.statistic == BY_IMAGE:
            present = np.unique(self.units)
            weights = counts[:, present].astype(np.float64)
            with np.errstate(invalid="ignore"):
                return np.asarray(weights @ self._unit_correlations(scores)[present] / weights.sum(axis=1))
        if self.statistic.startswith("kendall"):
            ranks = np.unique(scores, return_inverse=True)[1].astype(np.int32)
            tallies = kendall_resampled(
                self._offsets, self._ranks, self.units.astype(np.int32), ranks, counts, threads()
            )
            return self._tau(tallies)
        expanded = np.repeat(scores, self.counts)
        units = np.repeat(self.units, self.counts)
        weights = counts[:, units].astype(np.float64)
        if self.statistic == "pearson":
            return _weighted_pearson(expanded, self.ratings, weights)
        if self.statistic == "average-precision":
            return average_precision(expanded, self.ratings, weights)
        resampled_rows = (np.repeat(np.arange(len(self)), count[units]) for count in counts)
        return np.array([correlation(self.statistic, expanded[rows], self.ratings[rows]) for rows in resampled_rows])

    def exchanged(
        self, a: NDArray[np.float64], b: NDArray[np.float64], swaps: NDArray[np.uint8]
    ) -> NDArray[np.float64]:
        """Return differences of the correlations of a and b after exchanging the scores of some units; float64[n].

        Both are first converted to a common scale: ranks, or standard deviations for Pearson.

        Args:
            a, b: float64[n_captions].
            swaps: [n, n_units], 1 if a unit's scores are exchanged.
        """
        if self.statistic == BY_IMAGE:
            present = np.unique(self.units)
            gains = (self._unit_correlations(a) - self._unit_correlations(b))[present]
            return np.asarray((1.0 - 2.0 * swaps[:, present]) @ gains / len(present))
        if self.statistic.startswith("kendall"):
            left, right = (_doubled_ranks(scores) for scores in (a, b))
            tallies = kendall_exchanged(
                self._offsets, self._ranks, self.units.astype(np.int32), left, right, swaps, threads()
            )
            return self._tau(tallies[:, :6]) - self._tau(tallies[:, 6:])
        scale = standardized if self.statistic == "pearson" else _doubled_ranks
        first, second = (scale(scores).astype(np.float64) for scores in (a, b))
        once, differences = np.ones((1, self.n_units), np.int32), []
        for swap in swaps:
            swapped = swap[self.units] != 0
            exchanges = np.where(swapped, second, first), np.where(swapped, first, second)
            value, other = (self.resampled(scores, once)[0] for scores in exchanges)
            differences.append(value - other)
        return np.array(differences)

    def _unit_correlations(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Kendall's tau-b among the ratings of each unit, float64[n_units]."""
        expanded, units = np.repeat(scores, self.counts), np.repeat(self.units, self.counts)
        rows = [np.flatnonzero(units == unit) for unit in range(self.n_units)]
        return np.nan_to_num([correlation("kendall-tau-b", expanded[unit], self.ratings[unit]) for unit in rows])

    def _tau(self, tallies: NDArray[np.int64]) -> NDArray[np.float64]:
        concordance, pairs, tied_scores, tied_ratings, n_scores, n_ratings = tallies.T.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.statistic == "kendall-tau-b":
                return np.asarray(concordance / np.sqrt((pairs - tied_scores) * (pairs - tied_ratings)))
            n = (1 + np.sqrt(1 + 8 * pairs)) / 2
            m = np.minimum(n_scores, n_ratings)
            return np.asarray(2 * concordance / (n**2 * (m - 1) / m))


def williams(r_a: float, r_b: float, r_ab: float, n: int) -> float:
    """Return the two-sided p of the difference of two Pearson correlations with the same ratings: Williams' test.

    Williams 1959; Steiger 1980, equation 7.

    Args:
        r_a, r_b: correlations of the two scores with the ratings.
        r_ab: correlation of the scores with each other.
        n: number of points, at least 4.
    """
    from scipy import stats

    if n < 4:
        return float("nan")
    determinant = 1 - r_a**2 - r_b**2 - r_ab**2 + 2 * r_a * r_b * r_ab
    mean = (r_a + r_b) / 2
    spread = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r_ab) ** 3
    if r_ab >= 1 or spread <= 0:
        return 1.0
    t = (r_a - r_b) * np.sqrt((n - 1) * (1 + r_ab) / spread)
    return float(2 * stats.t.sf(abs(t), n - 3))


def _weighted_pearson(
    x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the Pearson correlations of x and y float64[n] under each row of weights float64[k, n]."""
    x, y = x - x.mean(), y - y.mean()  # for precision
    total, sx, sy, sxx, syy, sxy = (weights @ np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)).T
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = sxy - sx * sy / total
        return np.asarray(covariance / np.sqrt((sxx - sx**2 / total) * (syy - sy**2 / total)))


def _doubled_ranks(scores: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return twice the mean rank of each score, minus two: whole numbers from 0 on a common scale for all scores of
    that length.
    """
    from scipy import stats

    return np.asarray(2 * stats.rankdata(scores) - 2).astype(np.int32)


def standardized(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores with mean 0 and standard deviation 1; constant scores become 0."""
    return np.asarray((scores - scores.mean()) / (scores.std() or 1.0))
