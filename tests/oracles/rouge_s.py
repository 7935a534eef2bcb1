"""ROUGE-S."""

from __future__ import annotations

from collections import Counter

from tests.oracles.ngrams import Caption, matches
from tests.oracles.rouge_l import f_measure


def skip_bigrams(tokens: Caption, gap: int | None) -> Counter[tuple[str, ...]]:
    """Return ordered word pairs at most `gap` positions apart; None for any distance."""
    pairs: Counter[tuple[str, ...]] = Counter()
    for i in range(len(tokens)):
        for j in range(i + 1, len(tokens)):
            if gap is None or j - i <= gap:
                pairs[tokens[i], tokens[j]] += 1
    return pairs


def score(candidate: Caption, references: list[Caption], gap: int | None = 4) -> float:
    """Return F-measure of the best precision and the best recall over references."""
    precision = recall = 0.0
    mine = skip_bigrams(candidate, gap)
    for reference in references:
        theirs = skip_bigrams(reference, gap)
        matched = matches(mine, theirs)
        if mine:
            precision = max(precision, matched / sum(mine.values()))
        if theirs:
            recall = max(recall, matched / sum(theirs.values()))
    return f_measure(precision, recall)
