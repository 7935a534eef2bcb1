"""BLEU-1 to BLEU-4 of the COCO caption toolkit, and as the paper has them."""

from __future__ import annotations

import math

from tests.oracles.ngrams import Caption, best_counts, matches, ngrams

TINY, SMALL = 1e-15, 1e-9


def statistics(candidate: Caption, references: list[Caption]) -> list[float]:
    """Return clipped matches and n-grams of order 1 to 4, candidate length, closest reference length."""
    matched = [matches(ngrams(candidate, n), best_counts(references, n)) for n in range(1, 5)]
    guessed = [max(0, len(candidate) - n + 1) for n in range(1, 5)]
    _, closest = min((abs(len(reference) - len(candidate)), len(reference)) for reference in references)
    return [float(x) for x in [*matched, *guessed, len(candidate), closest]]


def scores(statistics: list[float], variant: str = "official") -> list[float]:
    """BLEU-1 to BLEU-4 of one caption's statistics, or of their sum over a corpus."""
    matched, guessed, (length, reference_length) = statistics[:4], statistics[4:8], statistics[8:]
    return [
        _official(matched[:k], guessed[:k], length, reference_length)
        if variant == "official"
        else _paper(matched[:k], guessed[:k], length, reference_length)
        for k in range(1, 5)
    ]


def _official(matched: list[float], guessed: list[float], length: float, reference_length: float) -> float:
    product = 1.0
    for correct, guess in zip(matched, guessed, strict=True):
        product *= (correct + TINY) / (guess + SMALL)
    score = float(product ** (1 / len(matched)))
    ratio = (length + TINY) / (reference_length + SMALL)
    return score * math.exp(1 - 1 / ratio) if ratio < 1 else score


def _paper(matched: list[float], guessed: list[float], length: float, reference_length: float) -> float:
    if not all(matched):
        return 0.0
    logarithms = [math.log(correct / guess) for correct, guess in zip(matched, guessed, strict=True)]
    penalty = 1.0 if length > reference_length else math.exp(1 - reference_length / length)
    return penalty * math.exp(sum(logarithms) / len(matched))
