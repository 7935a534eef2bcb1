"""Human agreement on words: counts of each word in the captions of an image, and the model of Chen et al. 2015."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.text import PTB, Tokens, WordLayer

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


# ---- the model


def model_precision(p: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return p k / (p k + (1 - p)^k), the precision of a word used with probability p, given k references."""
    expected = p * k
    return np.asarray(expected / (expected + (1 - p) ** k))


def fitted_probability(mean: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the maximum-likelihood p of the model for a word.

    Each of n captions contains the word with probability p if it applies to the image, and otherwise none does. The
    likelihood depends on the data only through the mean number of captions with the word, over images with any: the
    mean of a zero-truncated binomial, n p / (1 - (1 - p)^n), is set equal to it and solved for p.

    Args:
        mean: 1 to n; 1 gives p = 0 and n gives p = 1.
        n: number of captions of an image, including the prediction: k + 1.
    """
    low, high = np.zeros_like(mean), np.ones_like(mean)
    for _ in range(60):
        p = (low + high) / 2
        below = n * p < mean * (1 - (1 - p) ** n)
        low, high = np.where(below, p, low), np.where(below, high, p)
    return np.asarray(np.select([mean <= 1, mean >= n, mean > 1], [0.0, 1.0, (low + high) / 2], np.nan))


def precision_at_recall(
    tp: NDArray[np.float64],
    fp: NDArray[np.float64],
    positives: NDArray[np.float64],
    negatives: NDArray[np.float64],
    recall: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the precision of a system at another recall than its own.

    Captions define one point of precision and recall. Between that and predicting nothing, or everything, predictions
    are left out or added at random, which interpolates true and false positives linearly (Davis and Goadrich 2006): a
    system with a higher recall keeps its precision, one with a lower recall loses some.

    Args:
        tp, fp: true and false positives of the system.
        positives, negatives: of a system that predicts everything.
        recall: the requested recall.

    Returns:
        Precision; NaN if nothing is predicted and the recall is 0.
    """
    system_recall = ratio(tp, positives)
    more = system_recall < recall
    share = np.where(more, ratio(recall - system_recall, 1 - system_recall), 0.0)
    return ratio(tp + share * (positives - tp), tp + fp + share * (positives - tp + negatives - fp))


# ---- counting


@dataclass(frozen=True, eq=False)
class WordCounts:
    """Counts of each word in the captions of an image, and derived arrays float64[n_words] over the vocabulary.

    If c of k + 1 captions contain a word, the prediction is one of these in c of k + 1 choices; it then matches c - 1
    references with the word, and otherwise misses c.

    Args:
        tokens: the words of all references.
        k: number of references.
        per_image: int64[n_images, n_words], the count c, sparse.
        rows: int64[n_images], indices of the images in the table of references.
        n_drawn: images with more than k + 1 captions.
    """

    tokens: Tokens
    k: int
    per_image: csr_matrix
    rows: NDArray[np.int64]
    n_drawn: int

    @classmethod
    def of_references(cls, table: References, k: int, seed: int) -> WordCounts:
        """Count words in the captions of images that have more than k."""
        from scipy.sparse import csr_matrix

        tokens = table.layer(WordLayer(PTB))
        n_words = len(tokens.vocabulary)
        of_image = np.diff(table.offsets)
        rows = np.flatnonzero(of_image > k)
        image = np.repeat(np.arange(len(table)), of_image)
        order = np.lexsort((np.random.default_rng(seed).random(len(image)), image))
        texts = order[table.offsets[rows][:, None] + np.arange(k + 1)].ravel()
        captions = occurrences(tokens, n_words)[texts]
        # The captions of an image follow one another: without the bounds between them they are one row.
        merged = (captions.data, captions.indices, captions.indptr[:: k + 1])
        per_image = csr_matrix(merged, shape=(len(rows), n_words))
        per_image.sum_duplicates()
        return cls(tokens, k, per_image, rows, int(np.count_nonzero(of_image > k + 1)))

    @property
    def n_images(self) -> int:
        return len(self.rows)

    @cached_property
    def _c(self) -> NDArray[np.int64]:
        return np.arange(self.k + 2)

    @cached_property
    def _histogram(self) -> NDArray[np.float64]:
        """Images in which c captions contain the word, float64[n_words, k + 2]; 0 for c = 0."""
        return _histogram(self.per_image, self.k + 2)

    @cached_property
    def images(self) -> NDArray[np.int64]:
        """Number of images with the word in any caption."""
        return np.asarray(self._histogram.sum(axis=1), np.int64)

    @cached_property
    def captions(self) -> NDArray[np.int64]:
        """Number of captions with the word."""
        return np.asarray(self._histogram @ self._c, np.int64)

    @property
    def tp(self) -> NDArray[np.float64]:
        return np.asarray(self._histogram @ (self._c * (self._c - 1)) / (self.k + 1))

    @property
    def fp(self) -> NDArray[np.float64]:
        return np.asarray(self._histogram[:, 1] / (self.k + 1))

    @property
    def positives(self) -> NDArray[np.float64]:
        return np.asarray(self.captions * self.k / (self.k + 1))

    @property
    def negatives(self) -> NDArray[np.float64]:
        return np.asarray(self.n_images - self.images + self.fp)

    @property
    def recall(self) -> NDArray[np.float64]:
        return ratio(self.tp, self.positives)

    @property
    def precision(self) -> NDArray[np.float64]:
        return ratio(self.tp, self.tp + self.fp)

    @cached_property
    def p(self) -> NDArray[np.float64]:
        """Fitted probability of the model; NaN for words in no image."""
        mean = ratio(self.captions.astype(float), self.images.astype(float))
        return fitted_probability(mean, self.k + 1)

    def of_system(
        self, captions: Captions, words: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return true and false positives of a system for some words, each averaged over choices of k references."""
        tokens = captions.layer(WordLayer(PTB))[0]
        counts = occurrences(tokens, len(tokens.vocabulary))[self.rows][:, words]
        both = counts.multiply(self.per_image[:, words]).tocsr()
        histogram = _histogram(both, self.k + 2)
        tp = np.asarray(histogram @ self._c * self.k / (self.k + 1))
        unknown = np.asarray(counts.sum(axis=0)).ravel() - histogram.sum(axis=1)
        return tp, unknown + histogram[:, 1] / (self.k + 1)


def occurrences(tokens: Tokens, n_words: int) -> csr_matrix:
    """Return the words of each caption: ones in int64[n_captions, n_words], sparse."""
    from scipy.sparse import csr_matrix

    ones = np.ones(len(tokens.ids), np.int64)
    matrix = csr_matrix((ones, tokens.ids, tokens.offsets), shape=(len(tokens.offsets) - 1, n_words), copy=True)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _histogram(counts: csr_matrix, n: int) -> NDArray[np.float64]:
    """Return counts of each number below n in each column, except zeros: float64[n_columns, n]."""
    n_columns = counts.shape[1]
    keys = counts.indices.astype(np.int64) * n + counts.data
    histogram = np.bincount(keys, minlength=n_columns * n).reshape(n_columns, n).astype(float)
    histogram[:, 0] = 0
    return histogram


def ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(a / b)
