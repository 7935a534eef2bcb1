"""Diversity of the captions of one image, written down as the formulas are."""

from __future__ import annotations

import itertools
import math

import numpy as np

from tests.oracles import bleu
from tests.oracles.cider import Frequencies, _similarity
from tests.oracles.ngrams import Caption, ngrams


def div(captions: list[Caption], n: int, small: float = 1e-6) -> float:
    """Return distinct n-grams over the number of words."""
    distinct = {ngram for caption in captions for ngram in ngrams(caption, n)}
    return len(distinct) / (small + sum(map(len, captions)))


def statistics_of_others(captions: list[Caption]) -> list[list[float]]:
    """BLEU's statistics of each caption with the others as its references."""
    return [
        bleu.statistics(caption, [*captions[:i], *captions[i + 1 :]])
        for i, caption in enumerate(captions)
        if len(captions) > 1
    ]


def mbleu(sets: list[list[Caption]]) -> list[float]:
    """mBLEU-1 to mBLEU-4: the mean of the corpus BLEU of the first captions, of the second ones, and so on."""
    rows = np.array([statistics_of_others(captions) for captions in sets])  # images, captions, 10
    return np.mean([bleu.scores(slot.tolist()) for slot in rows.sum(axis=0)], axis=0).tolist()  # type: ignore[no-any-return]


def kernel(captions: list[Caption], known: Frequencies) -> list[list[float]]:
    """CIDEr of every caption with every other, 0 to 1."""
    return [[_similarity(a, [b], known, clip=False, sigma=math.inf, paper=False) for b in captions] for a in captions]


def self_cider(captions: list[Caption], known: Frequencies) -> float:
    """nan for one caption, or where no n-gram has a weight."""
    roots = np.sqrt(np.clip(np.linalg.eigvalsh(np.array(kernel(captions, known))), 0, None))
    return _spread(roots.tolist(), len(captions))


def self_cider_d(captions: list[Caption], known: Frequencies) -> float:
    """With CIDEr-D, the earlier caption as candidate, and singular values."""
    m = len(captions)
    matrix = np.zeros((m, m))
    for i, j in itertools.combinations_with_replacement(range(m), 2):
        value = _similarity(captions[i], [captions[j]], known, clip=True, sigma=6.0, paper=False)
        matrix[i, j] = matrix[j, i] = value
    return _spread(np.sqrt(np.linalg.svd(matrix, compute_uv=False)).tolist(), m)


def lsa(captions: list[Caption]) -> float:
    """nan for one caption, or without words."""
    words = sorted({word for caption in captions for word in caption})
    counts = np.array([[caption.count(word) for caption in captions] for word in words]).reshape(-1, len(captions))
    return _spread(np.linalg.svd(counts, compute_uv=False).tolist(), len(captions)) if words else math.nan


def _spread(values: list[float], m: int) -> float:
    if m < 2 or not sum(values):
        return math.nan
    return -math.log(max(values) / sum(values)) / math.log(m)
