"""Document frequencies of a few texts."""

from __future__ import annotations

from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.text import PTB
from tests.support.corpora import references_table


def idf_of(*texts: str, copies: int = 5) -> DocumentFrequencies:
    """Frequencies in which the n-grams of the first text are rarer than those of the last."""
    documents = [[text] for i, text in enumerate(texts) for _ in range(copies * i + 1)]
    return DocumentFrequencies.of(references_table(documents), PTB)
