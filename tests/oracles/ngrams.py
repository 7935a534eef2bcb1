"""Counted n-grams, which most oracles are made of."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

Caption: TypeAlias = list[str]
Ngrams: TypeAlias = Counter[tuple[str, ...]]


def ngrams(tokens: Caption, n: int) -> Ngrams:
    """Return the n-grams of a caption, with repeats."""
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def matches(left: Ngrams, right: Ngrams) -> int:
    """Return the number of common n-grams, each as often as in the one that has it less often."""
    return sum(min(count, right[ngram]) for ngram, count in left.items())


def best_counts(references: list[Caption], n: int) -> Ngrams:
    """Return each n-gram as often as in the reference that has it most often."""
    best: Ngrams = Counter()
    for reference in references:
        for ngram, count in ngrams(reference, n).items():
            best[ngram] = max(best[ngram], count)
    return best
