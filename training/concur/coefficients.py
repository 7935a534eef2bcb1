"""How features make a score: coefficients fitted to comparisons of captions by people, for both training programs.

A comparison is a caption and one that must score lower: people rated it lower, or it was made wrong. No coefficient has
the wrong sign, and none is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from captious.data import Captions, References
from captious.judgment.judgments import CaptionPairs, RatedCaptions
from captious.learned.caption_weights import PENALTIES
from examples import Examples, Pair, Rated

__all__ = ["Comparisons", "fitted", "pair_table", "scaled", "table", "text_table"]

_PAIRS = 60_000  # of rated captions
_APART = 0.25  # ratings that differ by less are taken for equal
_RIDGE = 1e-4
_LEAST_DEVIATION = 0.02  # of features that are seldom above 0


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons of one kind.

    Args:
        differences: features of captions less those of the captions that must score lower, float64[n, k].
        shares: of the comparisons in the loss, float64[n], which sum to 1.
        weight: of all of them together.
    """

    differences: NDArray[np.float64]
    shares: NDArray[np.float64]
    weight: float

    @classmethod
    def of_ratings(
        cls, features: NDArray[np.float64], ratings: NDArray[np.float64], weight: float, *, seed: int = 0
    ) -> Comparisons:
        """Compare rated captions, drawn at random."""
        one, two = np.random.default_rng(seed).integers(len(ratings), size=(2, _PAIRS))
        apart = np.abs(ratings[one] - ratings[two]) > min(_APART, np.ptp(ratings) / 8)
        signs = np.sign(ratings[one] - ratings[two])[apart, None]
        return cls.of_differences((features[one[apart]] - features[two[apart]]) * signs, weight)

    @classmethod
    def of_differences(cls, differences: NDArray[np.float64], weight: float) -> Comparisons:
        return cls(differences, np.full(len(differences), 1 / max(len(differences), 1)), weight)

    @classmethod
    def of_judgments(
        cls, judgments: RatedCaptions | CaptionPairs, features: NDArray[np.float64], weight: float, *, seed: int = 0
    ) -> Comparisons:
        """Compare captions of a benchmark as people did; all parts of pairs count alike."""
        if isinstance(judgments, RatedCaptions):
            ratings = np.array([of_caption.mean() for of_caption in judgments.ratings])
            return cls.of_ratings(features, ratings / np.ptp(ratings), weight, seed=seed)
        of_pairs = np.stack([judgments.of_pairs(column) for column in features.T], axis=2)
        rows = np.arange(judgments.n)
        differences = of_pairs[rows, judgments.preferred] - of_pairs[rows, 1 - judgments.preferred]
        shares = 1 / np.bincount(judgments.parts)[judgments.parts]
        return cls(differences, shares / shares.sum(), weight)

    def right(self, coefficients: NDArray[np.float64]) -> float:
        """Return the share of comparisons in which the better caption scores higher; ties count one half."""
        margins = self.differences @ coefficients
        return float(self.shares @ ((margins > 0) + 0.5 * (margins == 0)))


def fitted(
    comparisons: Sequence[Comparisons], names: Sequence[str], given: Mapping[str, float] | None = None
) -> NDArray[np.float64]:
    """Return coefficients of least logistic loss of the comparisons, float64[k].

    Coefficients of penalties are not above 0, all others not below.

    Args:
        comparisons: of all kinds.
        names: of the features.
        given: coefficients that are kept, by name.
    """
    signs = np.where([name in PENALTIES for name in names], -1.0, 1.0)
    variances = [each.shares @ each.differences**2 for each in comparisons]
    deviations = np.maximum(np.sqrt(np.mean(variances, axis=0) / 2), _LEAST_DEVIATION)
    total = sum(each.weight for each in comparisons)
    scaled_ones = [(each.differences * signs / deviations, each.shares * each.weight / total) for each in comparisons]
    kept = {name: abs(value) for name, value in (given or {}).items()}
    bounds = [(kept[n] * d, kept[n] * d) if n in kept else (0, None) for n, d in zip(names, deviations, strict=True)]

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = _RIDGE * values @ values, 2 * _RIDGE * values
        for these, shares in scaled_ones:
            margins = these @ values
            total = total + shares @ np.logaddexp(0, -margins)
            slope = slope - (shares / (1 + np.exp(np.clip(margins, -60, 60)))) @ these
        return float(total), slope

    values = minimize(loss, np.full(len(names), 0.3), method="L-BFGS-B", jac=True, bounds=bounds).x
    return np.asarray(values * signs / deviations)


def scaled(
    coefficients: NDArray[np.float64], features: NDArray[np.float64], ratings: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the bias, and the scale of coefficients, by which the logistic function predicts ratings of 0 to 5."""
    line = features @ coefficients

    def distance(values: NDArray[np.float64]) -> float:
        return float(((1 / (1 + np.exp(-(values[0] + values[1] * line))) - ratings / 5) ** 2).mean())

    bias, scale = minimize(distance, np.array([0.0, 1.0]) / max(float(line.std()), 1e-9)).x
    return float(bias), float(scale)


def table(examples: Examples, rated: Sequence[Rated]) -> Captions:
    """Return rated captions with their references."""
    return text_table(
        [examples.texts[each.candidate] for each in rated],
        [[examples.texts[i] for i in each.references] for each in rated],
    )


def pair_table(examples: Examples, pairs: Sequence[Pair]) -> Captions:
    """Return rated pairs, the second caption as the reference of the first."""
    texts = [[examples.texts[i] for i in each.captions] for each in pairs]
    return text_table([first for first, _ in texts], [[second] for _, second in texts])


def text_table(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Captions:
    """Return candidates with their references, one a row."""
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in references])])
    flat = tuple(text for own in references for text in own)
    return Captions(tuple(candidates), References(tuple(range(len(candidates))), flat, offsets))
