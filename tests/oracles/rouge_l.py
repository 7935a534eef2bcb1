"""ROUGE-L of the COCO caption toolkit, and after Lin 2004."""

from __future__ import annotations

from tests.oracles.ngrams import Caption

BETA = 1.2


def lcs(left: Caption, right: Caption) -> int:
    """Return length of the longest common subsequence, by the textbook's table."""
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def f_measure(precision: float, recall: float) -> float:
    """0 if either is."""
    if precision == 0 or recall == 0:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def score(candidate: Caption, references: list[Caption], variant: str = "official") -> float:
    """Return the score of a caption. An empty one is one empty token, as the toolkit splits at single spaces."""
    candidate = candidate or [""]
    references = [reference or [""] for reference in references]
    precisions = [lcs(candidate, reference) / len(candidate) for reference in references]
    recalls = [lcs(candidate, reference) / len(reference) for reference in references]
    if variant == "official":
        return f_measure(max(precisions), max(recalls))
    return max(f_measure(p, r) for p, r in zip(precisions, recalls, strict=True))
