"""Paired tests of the difference between two systems on the same images, and its effect size.

The tests are the paired bootstrap (Koehn 2004), which resamples images, and approximate randomization (Noreen 1989),
which exchanges the two systems' candidates at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from captious.evaluation.inference.resampling import (
    Sampling,
    bootstrap_p_value,
    bootstrap_sums,
    permutation_p_value,
)

if TYPE_CHECKING:
    from captious.evaluation.score_report import Result


@dataclass(frozen=True)
class Significance:
    """A difference with its interval and p values, as in ``Difference``."""

    difference: float
    interval: tuple[float, float]
    p_bootstrap: float
    p_randomization: float


@dataclass(frozen=True)
class ResampledDifference:
    """A difference between two systems, observed and resampled.

    Attributes:
        observed: score of b minus score of a.
        scale: the larger of the two scores in absolute value.
        n_images: number of images; for several sets, that of the largest.
        bootstrap: the difference on resampled images, float64[resamples].
        exchanged: the difference with each image's candidates exchanged with probability one half, float64[resamples].
    """

    observed: float
    scale: float
    n_images: int
    bootstrap: NDArray[np.float64]
    exchanged: NDArray[np.float64]

    def significance(self, sampling: Sampling) -> Significance:
        """Return the difference with its interval and p values."""
        return Significance(
            self.observed,
            sampling.interval(self.bootstrap),
            bootstrap_p_value(self.observed, self.bootstrap, scale=self.scale, n_images=self.n_images),
            permutation_p_value(self.observed, self.exchanged, scale=self.scale),
        )


def resampled_difference(a: Result, b: Result, resamples: int, seed: int) -> ResampledDifference:
    """Return the difference between two systems in one output, under both kinds of resampling."""
    bootstrap_a, bootstrap_b = (result.statistics.resampled(resamples, seed)[:, a.column] for result in (a, b))
    exchanged = a.statistics.exchanged_difference(b.statistics, resamples, seed)[:, a.column]
    scale = max(abs(a.score), abs(b.score))
    return ResampledDifference(b.score - a.score, scale, len(a.statistics.rows), bootstrap_b - bootstrap_a, exchanged)


def mean_difference(differences: Sequence[ResampledDifference]) -> ResampledDifference:
    """Return the mean of differences on disjoint sets of images that were resampled independently."""
    return ResampledDifference(
        float(np.mean([difference.observed for difference in differences])),
        max(difference.scale for difference in differences),
        max(difference.n_images for difference in differences),
        np.mean([difference.bootstrap for difference in differences], axis=0),
        np.mean([difference.exchanged for difference in differences], axis=0),
    )


def effect_size(differences: NDArray[np.float64]) -> float:
    """Return Cohen's d of paired caption scores, from their differences, float64[n_images]; nan if they do not vary."""
    center, moments = _moments(differences)
    return float(_effect_size(moments.sum(axis=0), center))


def effect_interval(differences: NDArray[np.float64], sampling: Sampling) -> tuple[float, float]:
    """Return the paired bootstrap interval of ``effect_size``."""
    center, moments = _moments(differences)
    sums = bootstrap_sums(moments, **sampling.settings)
    return sampling.interval(_effect_size(sums, center))


def _moments(differences: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return the mean of differences, and their powers 0, 1 and 2 about it: float64[n, 3]."""
    has_score = ~np.isnan(differences)  # an output may have no score for some captions
    center = float(differences[has_score].mean()) if has_score.any() else np.nan
    # About the mean, so that the variance is not a difference of large numbers.
    from_center = np.where(has_score, differences - center, 0.0)
    return center, np.stack([has_score.astype(np.float64), from_center, from_center**2], axis=1)


def _effect_size(moments: NDArray[np.float64], center: float) -> NDArray[np.float64]:
    """Return Cohen's d of paired differences from sums of powers 0, 1, 2 about a center: float64[..., 3] to
    float64[...].
    """
    n: NDArray[np.float64] = np.where(moments[..., 0] > 0, moments[..., 0], np.nan)
    from_center = moments[..., 1] / n
    mean = center + from_center
    variance = np.maximum(moments[..., 2] / n - from_center**2, 0) * n / np.maximum(n - 1, 1)
    deviation = np.sqrt(variance)
    return np.divide(mean, deviation, out=np.full_like(mean, np.nan), where=deviation > 1e-9 * (np.abs(mean) + 1e-3))
