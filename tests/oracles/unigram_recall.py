"""Unigram recall."""

from __future__ import annotations

from .ngrams import Caption, matches, ngrams


def score(candidate: Caption, references: list[Caption]) -> float:
    """Share of a reference's words that the candidate has, with the best reference."""
    recalls = [0.0]
    for reference in references:
        if reference:
            recalls.append(matches(ngrams(candidate, 1), ngrams(reference, 1)) / len(reference))
    return max(recalls)
