"""The metric captious in the plainest way, word by word and reference by reference, from its weights."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.learned.caption_weights import END, FIRST_WORD, START, UNKNOWN, CaptionWeights


def vector(words: Sequence[str], weights: CaptionWeights) -> NDArray[np.float64]:
    total = np.zeros(weights.vectors.shape[1])
    for word in words:
        if word in weights.words:
            total += weights.vectors[weights.words.index(word)]
    length = math.sqrt(float(total @ total))
    return total / length if length else total


def slips(words: Sequence[str], weights: CaptionWeights) -> float:
    rows = [weights.words.index(word) + FIRST_WORD if word in weights.words else UNKNOWN for word in words]
    total = 0.0
    for before, after in zip([START, *rows], [*rows, END], strict=True):
        one, other = weights.left[before].astype(float), weights.right[after].astype(float)
        logit = float(one[:-1] @ other[:-1]) + one[-1] + other[-1]
        total += -math.log1p(math.exp(-logit)) if logit > 0 else logit - math.log1p(math.exp(logit))
    least, deviation = weights.soundness
    return min(0.0, (total / (len(words) + 1) - least) / deviation)


def score(words: Sequence[str], references: Sequence[Sequence[str]], sparcs: float, weights: CaptionWeights) -> float:
    mine, theirs = vector(words, weights), [vector(reference, weights) for reference in references]
    summed = np.sum(theirs, axis=0)
    length = math.sqrt(float(summed @ summed))
    centroid = float(mine @ summed) / length if length else 0.0
    features = [centroid, max(float(mine @ other) for other in theirs), sparcs, slips(words, weights)]
    return 1 / (1 + math.exp(-weights.bias - sum(c * f for c, f in zip(weights.coefficients, features, strict=True))))
