"""Unigram recall."""

from __future__ import annotations

from tests.oracles.ngrams import Caption, matches, ngrams


def score(candidate: Caption, references: list[Caption]) -> float:
    """Return the share of a reference's words that the candidate has, with the best reference."""
    recalls = (matches(ngrams(candidate, 1), ngrams(words, 1)) / len(words) for words in references if words)
    return max(recalls, default=0.0)
