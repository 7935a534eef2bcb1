"""Ranks with ties: a submission's rank is 1 plus the number of submissions that are significantly better.

Two submissions are compared with the paired bootstrap: both have been resampled with the same images. p values are
those of the normal approximation, because the smallest one that can be counted in 1,000 resamples would not survive the
correction for the many pairs of a leaderboard.

The correction controls the probability of a single wrong order anywhere on the board. Up to ``HOLM_ROWS`` rows it is
Holm's (1979), which needs the p values of all pairs. Larger boards have Bonferroni's for all pairs of as many rows as
the next power of two: it decides each pair alone, so that a new submission needs only its own tests. It is stricter,
but not by much: where Holm's needs a difference of 5.6 standard errors, it needs 6.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from captious.evaluation.inference.resampling import can_vary

#: The level of significance.
SIGNIFICANCE = 0.05
#: Boards with more rows are ranked with Bonferroni's correction.
HOLM_ROWS = 500
_BLOCK_ROWS = 512  # rows compared with all others at a time


@dataclass(frozen=True, eq=False)
class RankedScores:
    """Submissions with their scores in one output. Higher is better: negate outputs where lower is better.

    Args:
        scores: float64[n], all finite.
        rounded: the same, rounded as on pages. Submissions with equal rounded scores are tied.
        resampled: the scores on resampled images, floating[n, resamples]; undefined ones are nan.
        n_images: number of resampled images. A single image distinguishes nothing.
    """

    scores: NDArray[np.float64]
    rounded: NDArray[np.float64]
    resampled: NDArray[np.floating]
    n_images: int

    def __len__(self) -> int:
        return len(self.scores)

    def take(self, selection: NDArray[np.integer] | slice) -> RankedScores:
        """A selection of the rows."""
        return RankedScores(self.scores[selection], self.rounded[selection], self.resampled[selection], self.n_images)

    def blocks(self) -> Iterator[slice]:
        """Slices of rows to compare at a time, so that memory is bounded."""
        for begin in range(0, len(self), _BLOCK_ROWS):
            yield slice(begin, min(begin + _BLOCK_ROWS, len(self)))


def corrected_rows(n: int) -> int:
    """The rows for whose pairs the correction of a board with n rows is made: n, or the next power of two."""
    return n if n <= HOLM_ROWS else 1 << (n - 1).bit_length()


def rank_rows(rows: RankedScores) -> NDArray[np.int64]:
    """The rank of each row, int64[n]. All pairs are compared."""
    if not can_vary(rows.n_images):
        return np.ones(len(rows), dtype=np.int64)
    return _holm(rows) if len(rows) <= HOLM_ROWS else _bonferroni(rows)


def update_ranks(
    stable: RankedScores, ranks: NDArray[np.int64], new: RankedScores, old: RankedScores
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ranks after a change of a board with more than ``HOLM_ROWS`` rows; only changed rows are compared.

    Args:
        stable: rows that stay on the board.
        ranks: previous ranks of these rows, with the same ``corrected_rows``.
        new, old: rows that are added and removed.

    Returns:
        The ranks of stable and new rows.
    """
    if not can_vary(stable.n_images):
        return rank_rows(stable), rank_rows(new)
    critical = _critical_errors(len(stable) + len(new))
    ranks, new_block, old_block = ranks.copy(), _Block(new), _Block(old)
    new_ranks = 1 + _is_better(new_block, new_block, critical)[0].sum(axis=0)
    for place in stable.blocks():
        block = _Block(stable.take(place))
        better, worse = _is_better(new_block, block, critical)
        ranks[place] += better.sum(axis=0) - _is_better(old_block, block, critical)[0].sum(axis=0)
        new_ranks += worse.sum(axis=1)
    return ranks, new_ranks


def _holm(rows: RankedScores) -> NDArray[np.int64]:
    n = len(rows)
    block = _Block(rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.abs(rows.scores[:, None] - rows.scores) / block.deviations(block)
    p_values = np.where(np.isnan(errors), 1.0, 2 * ndtr(-errors))
    sorted_p = np.sort(p_values[np.triu_indices(n, 1)])
    # Step down: the smallest p values are significant, up to the first one that is not.
    fails = sorted_p > SIGNIFICANCE / np.arange(len(sorted_p), 0, -1)
    n_significant = int(np.argmax(fails)) if fails.any() else len(sorted_p)
    if n_significant == 0:
        return np.ones(n, dtype=np.int64)
    better = (rows.rounded[:, None] > rows.rounded) & (p_values <= sorted_p[n_significant - 1])
    return np.asarray(1 + better.sum(axis=0))


def _bonferroni(rows: RankedScores) -> NDArray[np.int64]:
    critical = _critical_errors(len(rows))
    ranks = np.ones(len(rows), dtype=np.int64)
    for place in rows.blocks():
        block = _Block(rows.take(place))
        ranks[place] += _is_better(block, block, critical)[0].sum(axis=0)
        for later in rows.blocks():
            if later.start > place.start:
                better, worse = _is_better(block, _Block(rows.take(later)), critical)
                ranks[later] += better.sum(axis=0)
                ranks[place] += worse.sum(axis=1)
    return ranks


def _critical_errors(n: int) -> float:
    """The number of standard errors that a difference must have on a board of n rows."""
    n_rows = corrected_rows(n)
    return float(-ndtri(SIGNIFICANCE / (n_rows * (n_rows - 1))))  # two sides of n (n - 1) / 2 pairs


def _is_better(a: _Block, b: _Block, critical: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether rows of a are significantly better than those of b, and worse, bool[n_a, n_b] each."""
    difference = a.rows.scores[:, None] - b.rows.scores
    is_far = np.abs(difference) >= critical * a.deviations(b)
    rounded_a = a.rows.rounded[:, None]
    return is_far & (rounded_a > b.rows.rounded), is_far & (rounded_a < b.rows.rounded)


class _Block:
    """Rows, prepared for standard deviations of their differences.

    Attributes:
        rows: the rows.
        centered: resampled scores minus their means, float64[n, resamples]; 0 where undefined.
        defined: where they are defined, 0 or 1, float64[n, resamples]; None if they are everywhere.
    """

    def __init__(self, rows: RankedScores) -> None:
        self.rows = rows
        self.defined: NDArray[np.float64] | None = None
        values = rows.resampled.astype(np.float64)
        if not np.isfinite(values.sum()):
            is_defined = np.isfinite(values)
            self.defined = is_defined.astype(np.float64)
            values[~is_defined] = 0
            values -= values.sum(axis=1, keepdims=True) / np.maximum(self.defined.sum(axis=1, keepdims=True), 1)
            values[~is_defined] = 0
        elif values.size:
            values -= values.mean(axis=1, keepdims=True)
        self.centered = values

    def deviations(self, other: _Block) -> NDArray[np.float64]:
        """Standard deviations of all differences over the resamples that both rows have, float64[n, n_other].

        nan where these are fewer than two.
        """
        x, y = self.centered, other.centered
        squares = -2 * (x @ y.T)
        if self.defined is None and other.defined is None:
            n: Any = x.shape[1]
            squares += np.einsum("ij,ij->i", x, x)[:, None]
            squares += np.einsum("ij,ij->i", y, y)
        else:
            has_x = np.ones_like(x) if self.defined is None else self.defined
            has_y = np.ones_like(y) if other.defined is None else other.defined
            n = has_x @ has_y.T
            squares += (x**2) @ has_y.T + has_x @ (y**2).T
            squares -= (x @ has_y.T - has_x @ y.T) ** 2 / np.maximum(n, 1)
        variances = np.maximum(squares, 0) / np.maximum(n - 1, 1)
        return np.sqrt(np.where(n > 1, variances, np.nan))
