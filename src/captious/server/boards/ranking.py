"""Ranks with ties: a submission's rank is 1 plus the number of submissions that are significantly better.

Two submissions are compared with the paired bootstrap: both have been resampled with the same images. p values are
those of the normal approximation, because the smallest one that can be counted in 1,000 resamples would not survive the
correction for the many pairs of a leaderboard (Holm 1979).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from captious.evaluation.resampling import bootstrap_p_value, holm, ranks

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
    scored = [key for key, score in scores.items() if np.isfinite(score)]
    n = min((len(resampled[key]) for key in scored), default=0)
    pairs = [*combinations(scored, 2)]
    p_values = [
        bootstrap_p_value(
            scores[a] - scores[b],
            resampled[a][:n] - resampled[b][:n],
            scale=max(abs(scores[a]), abs(scores[b])),
            method="normal",
        )
        for a, b in pairs
    ]
    sign = -1 if lower_is_better else 1
    corrected = dict(zip(pairs, holm(p_values), strict=True))
    return ranks({key: sign * scores[key] for key in scored}, corrected, SIGNIFICANCE)
