"""The metric captious in the plainest way, word by word and reference by reference, from its weights."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.learned.caption_weights import END, FIRST_WORD, START, UNKNOWN, CaptionWeights


def bucket(ngram: str, n_buckets: int) -> int:
    """fastText's hash of a character n-gram."""
    value = 2166136261
    for byte in ngram.encode():
        value = (value ^ (byte if byte < 128 else byte + 0xFFFFFF00)) * 16777619 % (1 << 32)
    return value % n_buckets


def word_vector(word: str, weights: CaptionWeights) -> NDArray[np.float64]:
    if word in weights.numbers:
        return weights.vectors[weights.numbers[word]].astype(float)
    marked = f"<{word}>"
    pieces = [marked[i : i + n] for i in range(len(marked)) for n in (3, 4, 5) if i + n <= len(marked)]
    buckets = [bucket(piece, len(weights.subwords)) for piece in pieces]
    return np.asarray(weights.subwords[buckets].astype(float).sum(axis=0) / math.sqrt(len(buckets) or 1))


def unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    length = math.sqrt(float(vector @ vector))
    return vector / length if length else vector


def vector(words: Sequence[str], weights: CaptionWeights) -> NDArray[np.float64]:
    return unit(sum((word_vector(word, weights) for word in words), np.zeros(weights.vectors.shape[1])))


def slips(words: Sequence[str], weights: CaptionWeights) -> float:
    rows = [weights.numbers[word] + FIRST_WORD if word in weights.numbers else UNKNOWN for word in words]
    total = 0.0
    for before, after in zip([START, *rows], [*rows, END], strict=True):
        one, other = weights.left[before].astype(float), weights.right[after].astype(float)
        logit = float(one[:-1] @ other[:-1]) + one[-1] + other[-1]
        total += -math.log1p(math.exp(-logit)) if logit > 0 else logit - math.log1p(math.exp(logit))
    least, deviation = weights.soundness
    return min(0.0, (total / (len(words) + 1) - least) / deviation)


class Words:
    """Cosines and importance of words."""

    def __init__(self, weights: CaptionWeights) -> None:
        self._weights = weights
        self._typical = float(np.median([math.sqrt(float(row @ row)) for row in weights.vectors.astype(float)]))

    def importance(self, word: str) -> float:
        return float(np.linalg.norm(word_vector(word, self._weights))) / self._typical

    def cosine(self, one: str, other: str) -> float:
        return float(unit(word_vector(one, self._weights)[:128]) @ unit(word_vector(other, self._weights)[:128]))

    def likeness(self, one: str, other: str) -> float:
        are_known = one in self._weights.numbers and other in self._weights.numbers
        return self.cosine(one, other) if one != other and are_known else 1.0

    def support(self, words: Sequence[str], helpers: Sequence[str]) -> float:
        total = sum(map(self.importance, words))
        supported = 0.0
        for word in words:
            best = 1.0 if word in helpers else 0.0
            if word not in helpers and self.importance(word) >= 0.35:
                cosines = [self.cosine(word, other) for other in helpers if self.importance(other) >= 0.35]
                best = max([0.0, *cosines])
            supported += best * self.importance(word)
        return supported / total if total else 0.0

    def contradiction(self, words: Sequence[str], references: Sequence[Sequence[str]]) -> float:
        def places(caption: Sequence[str]) -> list[tuple[str | None, str | None]]:
            return list(zip([None, *caption[:-1]], [*caption[1:], None], strict=True)) if caption else []

        mine = places(words)
        there = [[w for r in references for p, w in zip(places(r), r, strict=True) if p == place] for place in mine]
        differences = [
            self.importance(word) * (1 - max(1.0 if o == word else self.cosine(word, o) for o in others))
            if others
            else 0
            for word, others in zip(words, there, strict=True)
        ]
        differs = [difference > 1e-6 for difference in differences]
        beside = [any(differs[j] for j in (i - 1, i + 1) if 0 <= j < len(words)) for i in range(len(words))]
        excused = sum(near and not others for others, near in zip(there, beside, strict=True))
        shared = [sum(place in places(r) for place in mine) for r in references]
        longer = [max(1, max(len(words), len(r)) - excused) for r in references]
        share = max(n / length for n, length in zip(shared, longer, strict=True))
        return max(differences, default=0.0) * min(1.0, max(0.0, (share - 0.7) / 0.3))


def score(
    words: Sequence[str],
    references: Sequence[Sequence[str]],
    sparcs: float,
    ngrams: float,
    weights: CaptionWeights,
    compared: Words,
) -> tuple[float, float, float]:
    mine, theirs = vector(words, weights), [vector(reference, weights) for reference in references]
    centroid = float(mine @ unit(np.sum(theirs, axis=0)))
    every = [word for reference in references for word in reference]
    precision, recall = compared.support(words, every), compared.support(every, words)
    features = [
        *(centroid, max(float(mine @ other) for other in theirs), sparcs, slips(words, weights), ngrams),
        *(compared.contradiction(words, references), precision, recall),
    ]
    total = weights.bias + sum(c * f for c, f in zip(weights.coefficients, features, strict=True))
    return 1 / (1 + math.exp(-total)), precision, recall
