"""How features make a score: coefficients fitted to the ratings of held-out captions, for both training programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import kendalltau

from captious.data import Captions, References
from captious.learned.caption_features import EncodedLayer
from captious.learned.caption_weights import CaptionWeights
from captious.text import PTB
from examples import Examples, Rated

__all__ = ["fitted", "pair_scores", "table"]

_PAIRS = 100_000  # of rated captions, whose order the coefficients are fitted to
_APART = 0.25  # ratings that differ by less are taken for equal


def table(examples: Examples, rated: Sequence[Rated]) -> Captions:
    """Rated captions with their references."""
    texts = examples.texts
    offsets = np.concatenate([[0], np.cumsum([len(each.references) for each in rated])])
    references = tuple(texts[i] for each in rated for i in each.references)
    return Captions(
        tuple(texts[each.candidate] for each in rated), References(tuple(range(len(rated))), references, offsets)
    )


def fitted(
    features: NDArray[np.float64],
    ratings: NDArray[np.float64],
    *,
    given: Mapping[int, float] | None = None,
    wrong: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    weight: float = 0.0,
    seed: int = 0,
) -> tuple[float, NDArray[np.float64], float]:
    """The bias and the coefficients of the score, and Kendall's tau-b of the halves, each fitted to the other.

    Args:
        features: of rated captions, float64[n, k].
        ratings: of them, float64[n].
        given: coefficients that are not fitted, in units of the fitted line, by column.
        wrong: features of captions, and of captions made wrong from them, which must score lower.
        weight: of these; that of rated captions is 1.
        seed: random seed.
    """
    given = {} if given is None else given
    deviation = features.std(axis=0)
    scaled = features / deviation
    free = np.array([column for column in range(features.shape[1]) if column not in given])

    harmed = np.zeros((1, len(free))) if wrong is None else ((wrong[0] - wrong[1]) / deviation)[:, free]

    def ordered(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Coefficients that put pairs of captions in the order of their ratings."""
        random = np.random.default_rng(seed)
        one, two = rows[random.integers(len(rows), size=(2, _PAIRS))]
        apart = np.abs(ratings[one] - ratings[two]) > _APART
        sign = np.sign(ratings[one] - ratings[two])[apart, None]
        differences = (scaled[one[apart]] - scaled[two[apart]])[:, free] * sign

        def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            total, slope = 1e-3 * values @ values, 2e-3 * values
            for these, share in ((differences, 1.0), (harmed, weight)):
                margins = these @ values
                total = total + share * np.logaddexp(0, -margins).mean()
                slope = slope - share * (these / (1 + np.exp(margins))[:, None]).mean(axis=0)
            return float(total), slope

        found = np.zeros(features.shape[1])
        found[free] = minimize(loss, np.zeros(len(free)), jac=True).x
        for column, value in given.items():
            found[column] = value * deviation[column]
        return found

    halves = np.random.default_rng(seed).permutation(len(ratings)) % 2
    taus = []
    for half in (0, 1):
        tested = halves == half
        taus.append(kendalltau(scaled[tested] @ ordered(np.flatnonzero(~tested)), ratings[tested]).statistic)
    combined = ordered(np.arange(len(ratings)))
    line = scaled @ combined

    def distance(values: NDArray[np.float64]) -> float:
        return float(((1 / (1 + np.exp(-(values[0] + values[1] * line))) - ratings / 5) ** 2).mean())

    bias, slope = minimize(distance, np.array([0.0, 1.0])).x
    return float(bias), slope * combined / deviation, float(np.mean(taus))


def pair_scores(examples: Examples, held_out: Examples, weights: CaptionWeights) -> float:
    """Kendall's tau-b of the cosines of rated pairs."""
    texts, pairs = examples.texts, held_out.pairs
    rated = Captions(
        tuple(texts[each.captions[0]] for each in pairs),
        References(
            tuple(range(len(pairs))), tuple(texts[each.captions[1]] for each in pairs), np.arange(len(pairs) + 1)
        ),
    )
    candidates, references = rated.layer(EncodedLayer(weights, PTB))
    cosines = np.einsum("ij,ij->i", candidates.vectors, references.captions.vectors)
    return float(kendalltau(cosines, [each.rating for each in pairs]).statistic)
