"""The metric concur in the plainest way, word by word and reference by reference, from its weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.learned.caption_weights import END, FIRST_WORD, START, UNKNOWN, CaptionWeights
from captious.text.stems import negations


def bucket(ngram: str, n_buckets: int) -> int:
    """fastText's hash of a character n-gram."""
    value = 2166136261
    for byte in ngram.encode():
        value = (value ^ (byte if byte < 128 else byte + 0xFFFFFF00)) * 16777619 % (1 << 32)
    return value % n_buckets


def word_vector(word: str, weights: CaptionWeights) -> NDArray[np.float64]:
    if word in weights.numbers:
        return np.asarray(weights.vectors[weights.numbers[word]], np.float64)
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
        copies = [(_closeness(words, r), r) for r in references]
        copies = sorted((copy for copy in copies if copy[0] > 0), key=lambda copy: -copy[0])
        total = 0.0
        found = [self.differences(words, r, references) for _, r in copies]
        for i in range(len(words)):
            own = [(closeness, found[j][i]) for j, (closeness, _) in enumerate(copies) if found[j][i] is not None]
            total += max(
                (closeness * min(d for c, d in own if c >= closeness and d is not None) for closeness, _ in own),
                default=0.0,
            )
        same, others = (
            max((c for c, r in copies if (self._negations(words) == self._negations(r)) == is_same), default=0.0)
            for is_same in (True, False)
        )
        return total + max(0.0, others - same)

    def _negations(self, words: Sequence[str]) -> int:
        return sum(word in negations(self._weights.language) for word in words)

    def differences(
        self, words: Sequence[str], reference: Sequence[str], references: Sequence[Sequence[str]]
    ) -> list[float | None]:
        """Return the difference of each word from those in its place; None where the reference has none."""
        places = subsequence(words, reference)
        others = [r for r in references if r is not reference]
        found: list[float | None] = []
        for i, word in enumerate(words):
            if places[i] is not None:
                found.append(0.0)
                continue
            before = [j for j in range(i) if places[j] is not None]
            behind = [j for j in range(i, len(words)) if places[j] is not None]
            first = places[before[-1]] + 1 if before else 0  # type: ignore[operator]
            last = places[behind[0]] if behind else len(reference)
            instead = reference[first:last]
            if not instead:
                found.append(None)
                continue
            size = max(len(instead), behind[0] - before[-1] - 1 if before and behind else 1)
            alike = max(self.likeness(word, other) for other in instead)
            elsewhere = 0.5 if any(word in other for other in others) else 1.0
            found.append(self.importance(word) * max(0.0, 1 - alike) / size * elsewhere)
        return found


def subsequence(words: Sequence[str], others: Sequence[str]) -> list[int | None]:
    """Return the place of each word among the others by a longest common subsequence, the one with the most neighbors.

    Of several, it is the one that is found from the end, and passes over words of the others first.
    """
    best: dict[tuple[int, int], tuple[int, int]] = {}
    ending: dict[tuple[int, int], tuple[int, int]] = {}
    for i in range(len(words) + 1):
        for j in range(len(others) + 1):
            best[i, j] = max(best.get((i - 1, j), (0, 0)), best.get((i, j - 1), (0, 0)))
            if i and j and words[i - 1] == others[j - 1]:
                n, neighbors = best[i - 1, j - 1]
                own = (n + 1, neighbors)
                if (i - 1, j - 1) in ending:
                    n, neighbors = ending[i - 1, j - 1]
                    own = max(own, (n + 1, neighbors + 1))
                ending[i, j] = own
                best[i, j] = max(best[i, j], own)
    places: list[int | None] = [None] * len(words)
    i, j, is_pair = len(words), len(others), False
    while i and j:
        if is_pair or ending.get((i, j)) == best[i, j]:
            i, j = i - 1, j - 1
            places[i] = j
            n, neighbors = ending.get((i, j), (-1, 0))
            is_pair = ending[i + 1, j + 1] == (n + 1, neighbors + 1)
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i -= 1
    return places


def _closeness(words: Sequence[str], reference: Sequence[str]) -> float:
    shared = [i for i, place in enumerate(subsequence(words, reference)) if place is not None]
    if not shared:
        return 0.0
    in_any_order = (Counter(words) & Counter(reference)).total()
    longer = max(len(reference), shared[-1] - shared[0] + 1)
    return max(0.0, ((len(shared) + in_any_order) / 2 / longer - 0.75) / 0.25)


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
