"""ROUGE-1 to ROUGE-4."""

from __future__ import annotations

from tests.oracles.ngrams import Caption, matches, ngrams


def scores(candidate: Caption, references: list[Caption]) -> list[float]:
    """N-gram recall of order 1 to 4, pooled over references; 0 without n-grams."""
    out = []
    for n in range(1, 5):
        matched = sum(matches(ngrams(candidate, n), ngrams(reference, n)) for reference in references)
        total = sum(max(0, len(reference) - n + 1) for reference in references)
        out.append(matched / total if total else 0.0)
    return out
