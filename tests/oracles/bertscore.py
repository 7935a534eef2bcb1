"""BERTScore, token by token."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

Vector = Sequence[float]


def cosine(a: Vector, b: Vector) -> float:
    lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths


def best(tokens: Sequence[Vector], weights: Sequence[float], others: Sequence[Vector]) -> float:
    """Return weighted mean over tokens of the largest cosine with any of the others, at least 0."""
    total = sum(weights)
    if total == 0:
        return 0.0
    largest = [max(0.0, *(cosine(token, other) for other in others)) for token in tokens]
    return sum(weight / total * value for weight, value in zip(weights, largest, strict=True))


def idf(references: Sequence[Sequence[int]]) -> dict[int, float]:
    """Return inverse document frequency of the token ids of all references; of any other id that of -1."""
    n = len(references)
    counts = Counter(token for reference in references for token in set(reference))
    return {-1: math.log(n + 1), **{token: math.log((n + 1) / (count + 1)) for token, count in counts.items()}}


def score(
    candidate: Sequence[Vector],
    candidate_weights: Sequence[float],
    references: Sequence[tuple[Sequence[Vector], Sequence[float]]],
    special: int = 2,
) -> tuple[float, float, float]:
    """P, R and F with the references that are best for each; captions of special tokens only are empty."""
    rows = []
    for reference, weights in references:
        p = best(candidate, candidate_weights, reference)
        r = best(reference, weights, candidate)
        if len(candidate) <= special or len(reference) <= special:
            p = r = 0.0
        rows.append((p, r, 2 * p * r / (p + r) if p + r else 0.0))
    return (max(row[0] for row in rows), max(row[1] for row in rows), max(row[2] for row in rows))
