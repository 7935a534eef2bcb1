"""CIDEr: shared n-grams, weighted on the page from tokens and document frequencies.

An n-gram in no document has the same weight as one in a single document. So frequencies of 2 and more suffice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.metrics.cider import Cider
from captious.metrics.shared.frequencies.document_frequencies import DocumentFrequencies
from captious.report.page.caption_words import TokenTable
from captious.report.page.explanations.explained import Explained
from captious.text import WordLayer


def pack(metric: Cider, explained: Explained) -> dict[str, Any]:
    """Pack document frequencies as a tree of n-grams in preorder: the length, last word, and frequency of each."""
    columns = explained.columns
    number, table = explained.tokens(WordLayer(metric.tokenizer))
    idf = metric.frequencies(explained.reports[0].captions.references)
    ngrams, documents = _frequent_ngrams(idf, table)
    ngrams, documents = _occurring(ngrams, documents, explained, metric, table)
    lengths, last, documents = _tree(ngrams, documents)
    weights = metric.weights(idf)
    return {
        "table": number,
        "documents": idf.n_documents,
        "scale": metric.scale,
        "clip": weights.clip,
        "relative": weights.relative,
        "factor": metric.factor_parameters,
        "ngrams": {
            "lengths": columns.integers(lengths),
            "words": columns.integers(last),
            "documents": columns.integers(documents),
        },
    }


def _frequent_ngrams(idf: DocumentFrequencies, table: TokenTable) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return n-grams of two or more documents, int32[n, 4] in token numbers of the page, and how many documents."""
    ngrams, documents = idf.counts.entries()
    frequent = documents > 1
    ngrams, documents = ngrams[frequent], documents[frequent]
    numbers = np.array([table.tokens.get(word, -2) for word in idf.vocabulary.words()] + [-1], np.int32)
    ngrams = numbers[ngrams]  # -1, after the end of an n-gram, stays
    on_page = (ngrams != -2).all(axis=1)
    return ngrams[on_page], documents[on_page]


def _occurring(
    ngrams: NDArray[np.int32],
    documents: NDArray[np.int64],
    explained: Explained,
    metric: Cider,
    table: TokenTable,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Select those that occur in captions of the page."""
    reports = explained.reports
    layer = WordLayer(metric.tokenizer)
    every = [
        reports[0].captions.references.layer(layer),
        *(report.single_captions.layer(layer)[0] for report in reports),
    ]
    hashes = np.unique(np.concatenate([_hashes(table.numbered(tokens), tokens.offsets) for tokens in every]))
    occurring = np.isin(_hash(ngrams), hashes)
    return ngrams[occurring], documents[occurring]


def _hashes(ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return hashes of all n-grams of captions."""
    caption = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    padded = np.concatenate([ids, np.full(4, -1, np.int32)])
    caption = np.concatenate([caption, np.full(4, -1)])
    hashes = []
    for n in range(1, 5):
        whole = np.flatnonzero(caption[: len(ids)] == caption[n - 1 : len(ids) + n - 1])
        columns = [padded[whole + k] if k < n else np.full(len(whole), -1, np.int32) for k in range(4)]
        hashes.append(np.unique(_hash(np.stack(columns, axis=1))))
    return np.concatenate(hashes)


def _hash(ngrams: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each n-gram; collisions are harmless, as they only keep superfluous n-grams."""
    out = np.zeros(len(ngrams), np.uint64)
    for column in ngrams.T:
        out = (out ^ (column.astype(np.int64) + 2).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        out ^= out >> np.uint64(29)
    return out


def _tree(
    ngrams: NDArray[np.int32], documents: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return n-grams in preorder: length, last word and frequency. Missing prefixes are added with frequency 1."""
    beginnings = [ngrams]
    for n in (1, 2, 3):
        longer = ngrams[ngrams[:, n] >= 0]
        longer[:, n:] = -1
        beginnings.append(longer)
    every = np.concatenate(beginnings)
    counts = np.concatenate([documents, np.ones(len(every) - len(documents), np.int64)])
    order = np.lexsort((-counts, *every.T[::-1]))
    every, counts = every[order], counts[order]
    first = np.concatenate([[True], (every[1:] != every[:-1]).any(axis=1)])[: len(every)]
    every, counts = every[first], counts[first]
    lengths = (every >= 0).sum(axis=1)
    return lengths, every[np.arange(len(every)), lengths - 1], counts
