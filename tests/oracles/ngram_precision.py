"""N-gram precision of order 1 to 4."""

from __future__ import annotations

from tests.oracles.bleu import SMALL, TINY
from tests.oracles.ngrams import Caption, best_counts, matches, ngrams


def scores(candidate: Caption, references: list[Caption], variant: str = "official") -> list[float]:
    """Return clipped matches divided by the candidate's n-grams."""
    out = []
    for n in range(1, 5):
        matched = matches(ngrams(candidate, n), best_counts(references, n))
        guessed = sum(ngrams(candidate, n).values())
        if variant == "official":
            out.append((matched + TINY) / (guessed + SMALL))
        else:
            out.append(matched / guessed if guessed else 0.0)
    return out
