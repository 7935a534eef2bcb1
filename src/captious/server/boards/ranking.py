"""Ranks with ties: a submission's rank is 1 plus the number of submissions that are significantly better.

Pure functions over arrays. Two submissions are compared with the paired bootstrap: both have been resampled with the
same images, so the standard error of their difference is that of the resampled differences. p values are those of the
normal approximation, because the smallest one that can be counted in 1,000 resamples would not survive the correction
for the many pairs of a leaderboard (Holm 1979).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from captious.evaluation.resampling import holm
from captious.judgment.verdict import ranks

__all__ = ["SIGNIFICANCE", "rank_submissions"]

#: The level of significance.
SIGNIFICANCE = 0.05


def rank_submissions(
    scores: Mapping[int, float], resampled: Mapping[int, NDArray[np.float64]], *, lower_is_better: bool = False
) -> dict[int, int]:
    """Ranks of submissions in one output.

    Args:
        scores: corpus score by submission.
        resampled: the same on resampled images, float64[resamples]; all with the same resamples, of which some may
            have fewer.
        lower_is_better: whether lower scores are better.

    Returns:
        Rank by submission, for those that have a score.
    """
    there = [key for key, score in scores.items() if np.isfinite(score)]
    pairs = [*combinations(there, 2)]
    n = min((len(resampled[key]) for key in there), default=0)
    p_values = holm([_p_value(scores[a] - scores[b], resampled[a][:n] - resampled[b][:n]) for a, b in pairs])
    named = {(str(a), str(b)): p for (a, b), p in zip(pairs, p_values, strict=True)}
    sign = -1 if lower_is_better else 1
    found = ranks({str(key): sign * scores[key] for key in there}, named, SIGNIFICANCE)
    return {key: found[str(key)] for key in there}


def _p_value(difference: float, resampled: NDArray[np.float64]) -> float:
    """Two-sided p value of a difference, from the standard error of its bootstrap."""
    error = float(np.nanstd(resampled))
    if difference == 0:
        return 1.0
    if not error > 1e-12 * abs(difference):
        return 0.0 if np.isfinite(error) else 1.0
    return float(2 * ndtr(-abs(difference) / error))
