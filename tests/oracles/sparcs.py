"""SPARCS in the plainest way, from lists of concepts. Feinglass and Yang 2021, equations 9 to 11."""

from __future__ import annotations

from collections.abc import Sequence


def score(candidate: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    weights = {c: sum(c in r for r in references) / len(references) for r in references for c in r}
    message = set(candidate)
    matched = sum(weights[c] for c in message if c in weights)
    if matched == 0:
        return 0.0
    precision = matched / (matched + sum(c not in weights for c in message))
    recall = matched / sum(weights.values())
    return 2 * precision * recall / (precision + recall)
