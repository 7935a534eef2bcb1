"""Judgments of systems by ratings of their captions: means of scores compared with means of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.evaluation.inference.resampling import permutation_p_value
from captious.judgment.correlation import standardized
from captious.judgment.human_judgments import CaptionJudgments, OfSystems

#: Statistics that compare mean scores of systems with their mean ratings.
SYSTEM_STATISTICS = ("pearson", "spearman", "kendall-tau-b", "pairwise-accuracy")


@dataclass(frozen=True, eq=False)
class RatedSystems(CaptionJudgments):
    """Systems with rated captions: the score and the rating of a system are means over its captions.

    Args:
        captions: the rated captions.
        ratings: float64[n_captions], the mean rating of each caption.
        units: int[n_captions], the image of each, numbered from 0.
        systems: int[n_captions], the system of each.
        names: names of the systems.
    """

    captions: Captions
    ratings: NDArray[np.float64]
    units: NDArray[np.int64]
    systems: NDArray[np.int64]
    names: Sequence[str]

    @property
    def part_names(self) -> Sequence[str]:
        return ()

    @property
    def n(self) -> int:
        return len(self.names)

    @cached_property
    def _every(self) -> NDArray[np.int32]:
        """Counts of a single resample with every image once."""
        return np.ones((1, self.n_units), np.int32)

    def _means(self, values: NDArray[np.float64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return means over the captions of each system, float64[n, n_systems]."""
        members = np.zeros((len(self.systems), self.n))
        members[np.arange(len(self.systems)), self.systems] = 1
        weights = counts[:, self.units].astype(np.float64)
        with np.errstate(invalid="ignore"):
            return np.asarray((weights @ (members * values[:, None])) / (weights @ members))

    def of_systems(self, scores: NDArray[np.float64]) -> OfSystems:
        return OfSystems(self.names, self._means(scores, self._every)[0], self._means(self.ratings, self._every)[0])

    def values(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.resampled(scores, self._every)

    def resampled(self, scores: NDArray[np.float64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
        means = self._means(scores, counts), self._means(self.ratings, counts)
        return agreement_of_systems(self.protocol.statistic, *means, ties=self.protocol.ties)

    def p_value(self, a: NDArray[np.float64], b: NDArray[np.float64], swaps: NDArray[np.uint8]) -> float:
        observed = float((self.values(a) - self.values(b))[0])
        left, right = standardized(a), standardized(b)
        ratings = self._means(self.ratings, self._every)
        permuted = []
        for swap in swaps:
            swapped = swap[self.units] != 0
            exchanges = [np.where(swapped, right, left), np.where(swapped, left, right)]
            means = np.concatenate([self._means(values, self._every) for values in exchanges])
            first, second = agreement_of_systems(
                self.protocol.statistic, means, np.repeat(ratings, 2, axis=0), ties=self.protocol.ties
            )
            permuted.append(first - second)
        return permutation_p_value(observed, np.array(permuted), scale=1)


def agreement_of_systems(
    statistic: str, scores: NDArray[np.float64], ratings: NDArray[np.float64], *, ties: float = 0.5
) -> NDArray[np.float64]:
    """Return the agreement of mean scores with mean ratings, in each of several resamples.

    Args:
        statistic: one of ``SYSTEM_STATISTICS``. Pairwise accuracy is the share of pairs of systems with different
            ratings that scores order as ratings do (Kocmi et al. 2021).
        scores, ratings: float64[n, n_systems].
        ties: value of a pair with equal scores, 0 to 1.

    Returns:
        float64[n]; nan if scores or ratings are constant.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        if statistic in ("pearson", "spearman"):
            if statistic == "spearman":
                from scipy import stats

                scores, ratings = stats.rankdata(scores, axis=1), stats.rankdata(ratings, axis=1)
            x, y = (values - values.mean(axis=1, keepdims=True) for values in (scores, ratings))
            return np.asarray((x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1)))
        first, second = np.triu_indices(scores.shape[1], 1)
        of_scores, of_ratings = (np.sign(values[:, first] - values[:, second]) for values in (scores, ratings))
        if statistic == "kendall-tau-b":
            told_apart = np.abs(of_scores).sum(axis=1) * np.abs(of_ratings).sum(axis=1)
            return np.asarray((of_scores * of_ratings).sum(axis=1) / np.sqrt(told_apart))
        right = np.where(of_scores == 0, ties, of_scores == of_ratings) * (of_ratings != 0)
        return np.asarray(right.sum(axis=1) / (of_ratings != 0).sum(axis=1))
