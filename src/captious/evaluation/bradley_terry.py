"""Strengths of systems from points in pairs (Bradley and Terry 1952)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MOST_STEPS = 10_000
_CLOSE = 1e-10  # of logarithms of strengths


def strengths(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Maximum likelihood strengths, as natural logarithms with a mean of 0.

    Half a point is added to both sides of each pair, so that a system that wins all comparisons, or none, has a finite
    strength.

    Args:
        points: float64[..., n, n]: points of system i against system j, 1 for a win and .5 for a tie.

    Returns:
        float64[..., n]: the odds of i against j are exp(strength of i - strength of j).
    """
    n = points.shape[-1]
    points = (points + 0.5) * (1 - np.eye(n))
    played = points + np.swapaxes(points, -1, -2)
    won = points.sum(axis=-1)
    logarithms = np.zeros(points.shape[:-1])
    for _ in range(_MOST_STEPS):  # Hunter 2004: each step increases the likelihood
        values = np.exp(logarithms)
        new = np.log(won) - np.log((played / (values[..., :, None] + values[..., None, :])).sum(axis=-1))
        new -= new.mean(axis=-1, keepdims=True)
        moved = np.abs(new - logarithms).max(initial=0.0)
        logarithms = new
        if moved < _CLOSE:
            break
    return logarithms
