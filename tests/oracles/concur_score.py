"""The metric concur in the plainest way, word by word and reference by reference, from its weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.learned.caption_weights import END, FIRST_WORD, START, UNKNOWN, CaptionWeights
from captious.learned.contradictions import ARTICLES, SYMMETRIC
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


def unsoundness(words: Sequence[str], weights: CaptionWeights) -> float:
    rows = [weights.numbers[word] + FIRST_WORD if word in weights.numbers else UNKNOWN for word in words]
    sound = []
    for before, after in zip([START, *rows], [*rows, END], strict=True):
        one, other = weights.left[before].astype(float), weights.right[after].astype(float)
        logit = float(one[:-1] @ other[:-1]) + one[-1] + other[-1]
        log_share = -math.log1p(math.exp(-logit)) if logit > 0 else logit - math.log1p(math.exp(logit))
        sound.append(0.0 if UNKNOWN in (before, after) else log_share)
    n = min(5, len(sound))
    return -min(sum(sound[i : i + n]) / n for i in range(len(sound) - n + 1))


class Words:
    """Cosines and importance of words."""

    def __init__(self, weights: CaptionWeights) -> None:
        self._weights = weights
        self._synonyms: dict[str, list[str]] = {}
        for pair in weights.synonyms.tolist():
            for one, other in (pair, pair[::-1]):
                self._synonyms.setdefault(weights.words[one], []).append(weights.words[other])
        self._typical = float(np.median([math.sqrt(float(row @ row)) for row in weights.vectors.astype(float)]))

    def in_words_of(self, words: Sequence[str], references: Sequence[Sequence[str]]) -> list[str]:
        """Replace words that no reference has by their most frequent synonym that one of them has."""
        said = {word for reference in references for word in reference}

        def replaced(word: str) -> str:
            synonyms = said.intersection(self._synonyms.get(word, ()))
            return word if word in said else min(synonyms, key=self._weights.numbers.__getitem__, default=word)

        return [*map(replaced, words)]

    def importance(self, word: str) -> float:
        return float(np.linalg.norm(word_vector(word, self._weights))) / self._typical

    def cosine(self, one: str, other: str) -> float:
        return float(unit(word_vector(one, self._weights)[:128]) @ unit(word_vector(other, self._weights)[:128]))

    def supports(self, word: str, helpers: Sequence[str]) -> float:
        if word in helpers or self.importance(word) < 0.35:
            return float(word in helpers)
        return max([0.0, *(self.cosine(word, other) for other in helpers if self.importance(other) >= 0.35)])

    def support(self, words: Sequence[str], helpers: Sequence[str]) -> float:
        total = sum(map(self.importance, words))
        supported = sum(self.supports(word, helpers) * self.importance(word) for word in words)
        return supported / total if total else 0.0

    def is_content(self, word: str) -> bool:
        return self.importance(word) >= 0.35 and word not in negations(self._weights.language)

    def repetition(self, words: Sequence[str]) -> float:
        content = [word for word in words if self.is_content(word)]
        total = sum(map(self.importance, content))
        again = sum(self.importance(word) for i, word in enumerate(content) if word in content[:i])
        return again / total if total else 0.0

    def strangeness(self, word: str, others: Sequence[str]) -> float:
        share = min(1.0, max(0.0, (0.5 - self.supports(word, others)) / 0.25))
        return share * (word in self._weights.numbers) * min(self.importance(word), 1)

    def contradiction(self, words: Sequence[str], references: Sequence[Sequence[str]]) -> float:
        every = [word for reference in references for word in reference]
        largest = [0.0] * len(words)
        for reference in references:
            closeness = _closeness(words, reference)
            places = subsequence(words, reference)
            for i, word in enumerate(words):
                if places[i] is not None or not closeness:
                    continue
                for other in _instead(places, i, reference):
                    agreed = sum(any(self._are_alike(other, w) for w in r) for r in references) / len(references)
                    value = closeness * self.strangeness(other, words) * agreed**2 * self.strangeness(word, every)
                    largest[i] = max(largest[i], value)
        return sum(largest) / max(len(words), 1)

    def confirmed(self, words: Sequence[str], references: Sequence[Sequence[str]]) -> set[int]:
        """Return the places of words that stand in the place of a reference's, and that only other references have."""
        found = set()
        for reference in references:
            places = subsequence(words, reference)
            for i, word in enumerate(words):
                is_other = places[i] is None and _instead(places, i, reference) and _closeness(words, reference) > 0
                if is_other and word not in reference and any(word in other for other in references):
                    found.add(i)
        return found

    def _are_alike(self, one: str, other: str) -> bool:
        return one == other or self.cosine(one, other) >= 0.5

    def exchange(self, words: Sequence[str], references: Sequence[Sequence[str]]) -> float:
        largest = 0.0
        for reference in references:
            longest = max(len(words), len(reference))
            share = (Counter(words) & Counter(reference)).total() / max(longest, 1)
            if share < 0.75 or longest > 40 or self._is_turned(words, reference):
                continue
            for i in range(len(words)):
                for j in range(i + 2, len(words)):
                    if not self._may_be_exchanged(words, i, j, reference):
                        continue
                    text = [*words]
                    text[i], text[j] = text[j], text[i]
                    others = [r for r in references if r is not reference and words[i] in r and words[j] in r]
                    if _shared(text, reference) < _shared(words, reference) + 2:
                        continue
                    if not any(r.index(words[i]) < r.index(words[j]) for r in others):
                        largest = max(largest, (share - 0.375) / 0.625)
        return largest

    def _may_be_exchanged(self, words: Sequence[str], i: int, j: int, reference: Sequence[str]) -> bool:
        one, other = words[i], words[j]
        are_single = all(self.is_content(w) and words.count(w) == reference.count(w) == 1 for w in (one, other))
        if not are_single or reference.index(one) < reference.index(other):
            return False
        return not SYMMETRIC["en"] >= {*words[i + 1 : j]}

    def _is_turned(self, words: Sequence[str], reference: Sequence[str]) -> bool:
        own = [word in SYMMETRIC["en"] for word in words]
        for start in range(len(words)):
            if own[start] and not (start and own[start - 1]):
                end = next((i for i in range(start, len(words)) if not own[i]), len(words))
                if [*words[end:], *words[start:end], *words[:start]] == [*reference]:
                    return True
        return False

    def negation(self, words: Sequence[str], references: Sequence[Sequence[str]]) -> float:
        denied, stated = self._denied(words)
        theirs: tuple[list[str], list[str]] = ([], [])
        for reference in references:
            for found, of_reference in zip(theirs, self._denied(reference, every=True), strict=True):
                found.extend(of_reference)
        pairs = [(word, theirs[1], theirs[0]) for word in denied] + [(word, *theirs) for word in stated]
        return max([0.0, *(self.supports(w, opposite) - self.supports(w, same) for w, opposite, same in pairs)])

    def _denied(self, words: Sequence[str], every: bool = False) -> tuple[list[str], list[str]]:
        """Return the words that a caption denies, and those that it states."""
        content = [i for i, word in enumerate(words) if self.is_content(word)]
        denied = set()
        for i, word in enumerate(words):
            if word in negations(self._weights.language):
                behind, before = [j for j in content if j > i], [j for j in content if j < i]
                denied.update(behind[:1] or before[-1:])
        others = range(len(words)) if every else content
        return [words[i] for i in sorted(denied)], [words[i] for i in others if i not in denied]


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


def _instead(places: Sequence[int | None], i: int, reference: Sequence[str]) -> Sequence[str]:
    """Return the words of the reference between those that surround a word."""
    before = [p for p in places[:i] if p is not None]
    behind = [p for p in places[i:] if p is not None]
    return reference[before[-1] + 1 if before else 0 : behind[0] if behind else len(reference)]


def _shared(words: Sequence[str], others: Sequence[str]) -> int:
    return sum(place is not None for place in subsequence(words, others))


def _closeness(words: Sequence[str], reference: Sequence[str]) -> float:
    shared = [i for i, place in enumerate(subsequence(words, reference)) if place is not None]
    in_order, longest = len(shared), min(len(words), len(reference))
    if not shared or (in_order + longest) / 2 <= 0.6 * len(reference):
        return 0.0
    in_any_order = (Counter(words) & Counter(reference)).total()
    longer = max(len(reference), shared[-1] - shared[0] + 1)
    return max(0.0, ((in_order + in_any_order) / 2 / longer - 0.6) / 0.4)


def agreement(mine: NDArray[np.float64], theirs: Sequence[NDArray[np.float64]]) -> float:
    closest = sorted(theirs, key=lambda other: -float(mine @ other))
    return max(float(mine @ unit(np.sum(closest[:n], axis=0))) for n in range(1, len(closest) + 1))


def likeness(
    words: Sequence[str], references: Sequence[Sequence[str]], weights: CaptionWeights, compared: Words
) -> tuple[float, float]:
    """Return agreement and order, without the words that other references confirm if they are higher then."""
    theirs = [vector(reference, weights) for reference in references]
    plain, others = _plain(words), [_plain(reference) for reference in references]
    order = max(2 * _shared(plain, r) / max(len(plain) + len(r), 1) for r in others)
    own = agreement(vector(words, weights), theirs), order
    places = [i for i, word in enumerate(words) if word not in ARTICLES["en"]]
    left_out = {places[i] for i in compared.confirmed(plain, others)}
    if not left_out:
        return own
    shorter = [word for i, word in enumerate(words) if i not in left_out]
    of_shorter = likeness(shorter, references, weights, compared)
    return max(own[0], of_shorter[0]), max(own[1], of_shorter[1])


def score(
    words: Sequence[str], references: Sequence[Sequence[str]], weights: CaptionWeights, compared: Words
) -> tuple[float, float, float]:
    references = [reference for reference in references if reference] or [[]]
    own_unsoundness, words = unsoundness(words, weights), compared.in_words_of(words, references)
    every = [word for reference in references for word in reference]
    precision, recall = compared.support(words, every), max(compared.support(r, words) for r in references)
    plain, others = _plain(words), [_plain(reference) for reference in references]
    agreed, order = likeness(words, references, weights, compared)
    limit, deviation = weights.soundness
    unsound = max(-limit, *(unsoundness(r, weights) for r in references))
    repeated = max(compared.repetition(r) for r in references)
    rewards = [agreed, precision, recall, order]
    penalties = [
        max(0.0, own_unsoundness - unsound) / deviation,
        max(0.0, compared.repetition(words) - repeated),
        compared.contradiction(plain, others),
        compared.exchange(plain, others),
        compared.negation(plain, others),
    ]
    if not any(rewards):
        return 0.0, precision, recall
    total = weights.bias + sum(c * f for c, f in zip(weights.coefficients, rewards + penalties, strict=True))
    return 1 / (1 + math.exp(-total)), precision, recall


def _plain(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in ARTICLES["en"]]
