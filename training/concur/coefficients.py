"""How features make a score: coefficients fitted to the ratings of held-out captions, for both training programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import kendalltau

from captious.data import Captions, References
from examples import Examples, Pair, Rated

__all__ = ["comparisons", "fitted", "pair_table", "table"]

_PAIRS = 100_000  # of rated captions, whose order the coefficients are fitted to
_APART = 0.25  # ratings that differ by less are taken for equal


def table(examples: Examples, rated: Sequence[Rated]) -> Captions:
    """Return rated captions with their references."""
    texts = examples.texts
    offsets = np.concatenate([[0], np.cumsum([len(each.references) for each in rated])])
    references = tuple(texts[i] for each in rated for i in each.references)
    return Captions(
        tuple(texts[each.candidate] for each in rated), References(tuple(range(len(rated))), references, offsets)
    )


def comparisons(features: NDArray[np.float64], ratings: NDArray[np.float64], *, seed: int = 0) -> NDArray[np.float64]:
    """Features of captions less those of captions that were rated lower, float64[n, k], of pairs drawn at random."""
    one, two = np.random.default_rng(seed).integers(len(ratings), size=(2, _PAIRS))
    apart = np.abs(ratings[one] - ratings[two]) > _APART
    sign = np.sign(ratings[one] - ratings[two])[apart, None]
    differences: NDArray[np.float64] = (features[one[apart]] - features[two[apart]]) * sign
    return differences


def fitted(
    features: NDArray[np.float64],
    ratings: NDArray[np.float64],
    *,
    given: Mapping[int, float],
    others: Sequence[tuple[NDArray[np.float64], float]] = (),
    seed: int = 0,
) -> tuple[float, NDArray[np.float64], float]:
    """Return the bias and the coefficients of the score, and Kendall's tau-b of the halves, each fitted to the other.

    Rated captions must be ordered as people rated them; no fitted coefficient is less than 0. The line is then scaled
    so that its logistic function predicts the ratings, and the coefficients that are given are added to it.

    Args:
        features: of rated captions, float64[n, k].
        ratings: of them, 0 to 5, float64[n].
        given: coefficients that are not fitted, by column.
        others: features of captions less those of captions that must score lower, and the weight of these
            comparisons; that of rated captions is 1.
        seed: random seed.
    """
    k = features.shape[1]
    free = np.array([column for column in range(k) if column not in given])
    fixed = np.zeros(k)
    fixed[[*given]] = [*given.values()]
    deviation = features[:, free].std(axis=0)

    def line(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the coefficients fitted to these captions, including given ones, and the bias."""
        apart = [(comparisons(features[rows], ratings[rows], seed=seed), 1.0), *others]
        scaled = [(these[:, free] / deviation, weight) for these, weight in apart]

        def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            total, slope = 1e-3 * values @ values, 2e-3 * values
            for these, weight in scaled:
                margins = these @ values
                total = total + weight * np.logaddexp(0, -margins).mean()
                slope = slope - weight * (these / (1 + np.exp(margins))[:, None]).mean(axis=0)
            return float(total), slope

        found = minimize(loss, np.ones(len(free)), jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(free)).x
        ordered = features[rows][:, free] @ (found / deviation)
        _, scale = minimize(_distance, np.array([0.0, 1.0]), (ordered, ratings[rows])).x
        combined = fixed.copy()
        combined[free] = scale * found / deviation
        (bias,) = minimize(lambda b: _distance((b[0], 1.0), features[rows] @ combined, ratings[rows]), np.zeros(1)).x
        return np.append(combined, bias)

    halves = np.random.default_rng(seed).permutation(len(ratings)) % 2
    taus = []
    for half in (0, 1):
        tested = halves == half
        taus.append(kendalltau(features[tested] @ line(np.flatnonzero(~tested))[:-1], ratings[tested]).statistic)
    *coefficients, bias = line(np.arange(len(ratings)))
    return float(bias), np.array(coefficients), float(np.mean(taus))


def _distance(values: Sequence[float], line: NDArray[np.float64], ratings: NDArray[np.float64]) -> float:
    """Return the mean squared distance of ratings from the logistic function of a line."""
    return float(((1 / (1 + np.exp(-(values[0] + values[1] * line))) - ratings / 5) ** 2).mean())


def pair_table(examples: Examples, pairs: Sequence[Pair]) -> Captions:
    """Return rated pairs, the second caption as the reference of the first."""
    texts = examples.texts
    references = tuple(texts[each.captions[1]] for each in pairs)
    return Captions(
        tuple(texts[each.captions[0]] for each in pairs),
        References(tuple(range(len(pairs))), references, np.arange(len(pairs) + 1)),
    )
