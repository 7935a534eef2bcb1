"""What the metric ``captious`` knows about captions: their vectors, and how sound their junctions are.

Pure functions over arrays of words, and the annotation layer that keeps the vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from captious.data import Captions, KeyedByFields, References
from captious.learned.caption_weights import END, FIRST_WORD, START, UNKNOWN, CaptionWeights
from captious.text import Tokenizer, Tokens, WordLayer

__all__ = [
    "EncodedCaptions",
    "EncodedLayer",
    "EncodedReferences",
    "centroids",
    "encode",
    "junctions",
    "numbers_of",
    "of_length_one",
    "similarities",
    "slips",
    "soundness",
]

_ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class EncodedCaptions:
    """Captions as vectors.

    Args:
        vectors: float32[n_captions, width], of length 1, or 0 for a caption without known words.
        numbers: int32[n_tokens], the words as numbers of the weights, -1 for unknown ones.
        offsets: int64[n_captions + 1].
    """

    vectors: NDArray[np.float32]
    numbers: NDArray[np.int32]
    offsets: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EncodedReferences:
    """References as vectors; ``of_words`` has the number of each word of their vocabulary."""

    captions: EncodedCaptions
    of_words: NDArray[np.int32]
    rows: NDArray[np.int64]

    @cached_property
    def centroids(self) -> NDArray[np.float64]:
        """The normalized sum of the references of each image, float64[n_images, width]."""
        return centroids(self.captions.vectors, self.rows)


@dataclass(frozen=True)
class EncodedLayer(KeyedByFields):
    """``EncodedReferences`` of references, ``EncodedCaptions`` of candidates."""

    weights: CaptionWeights
    tokenizer: Tokenizer

    def of_references(self, references: References) -> EncodedReferences:
        tokens: Tokens = references.layer(WordLayer(self.tokenizer))
        of_words = numbers_of(tokens.vocabulary.words(), self.weights)
        return EncodedReferences(encode(tokens, of_words, self.weights), of_words, references.offsets)

    def of_candidates(self, captions: Captions, references: EncodedReferences) -> EncodedCaptions:
        tokens: Tokens = captions.layer(WordLayer(self.tokenizer))[0]
        new = numbers_of(tokens.vocabulary.words(len(references.of_words)), self.weights)
        return encode(tokens, np.concatenate([references.of_words, new]), self.weights)


def numbers_of(words: list[str], weights: CaptionWeights) -> NDArray[np.int32]:
    """The number of each word, -1 for unknown ones."""
    return np.array([weights.numbers.get(word, -1) for word in words], np.int32)


def encode(tokens: Tokens, of_words: NDArray[np.int32], weights: CaptionWeights) -> EncodedCaptions:
    """The vectors of captions: the normalized sum of those of their words."""
    numbers = of_words[tokens.ids]
    has_vector = numbers >= 0
    starts = np.concatenate([[0], np.cumsum(has_vector)])[tokens.offsets]
    n, ones = len(tokens.lengths), np.ones(int(has_vector.sum()), np.float32)
    summed = csr_matrix((ones, numbers[has_vector], starts), shape=(n, len(weights.words))) @ weights.vectors
    return EncodedCaptions(of_length_one(np.asarray(summed)), numbers, tokens.offsets)


def of_length_one(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows divided by their lengths; zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    scaled: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-9))[:, None]
    return scaled


def centroids(vectors: NDArray[np.float32], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """The normalized sum of the rows of each image, float64[n_images, width]; an image has one or more.

    In double precision, so that the order of the references does not matter.
    """
    if len(offsets) < 2:
        return np.empty((0, vectors.shape[1]))
    summed = np.add.reduceat(vectors, offsets[:-1], axis=0, dtype=np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", summed, summed))
    return np.asarray(summed / np.maximum(lengths, 1e-9)[:, None])


def similarities(
    candidates: NDArray[np.float32],
    references: NDArray[np.float32],
    offsets: NDArray[np.int64],
    centroids: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Cosine of each candidate with the sum of its references, and with the closest of them.

    Args:
        candidates: vectors of length 1, float32[n, width].
        references: those of all references, float32[n_references, width].
        offsets: the references of each candidate, int64[n + 1].
        centroids: see ``centroids``, float64[n, width].

    Returns:
        float64[n, 2]
    """
    with_centroid = np.einsum("ij,ij->i", candidates, centroids)
    closest = np.empty(len(candidates))
    for start in range(0, len(candidates), _ROWS_AT_ONCE):
        rows = offsets[start : start + _ROWS_AT_ONCE + 1]
        own = np.repeat(candidates[start : start + len(rows) - 1], np.diff(rows), axis=0)
        cosines = np.einsum("ij,ij->i", own, references[rows[0] : rows[-1]])
        closest[start : start + len(rows) - 1] = np.maximum.reduceat(cosines, rows[:-1] - rows[0])
    return np.stack([with_centroid, closest], axis=1)


def slips(captions: EncodedCaptions, weights: CaptionWeights) -> NDArray[np.float64]:
    """How much less sound captions are than 95% of human captions, in standard deviations; float64[n], 0 or less."""
    least, deviation = weights.soundness
    return np.minimum(0, (soundness(captions, weights) - least) / deviation)


def soundness(captions: EncodedCaptions, weights: CaptionWeights) -> NDArray[np.float64]:
    """Mean log-probability that a junction of each caption is sound, float64[n], 0 or less."""
    logits, offsets = junctions(captions, weights)
    return np.add.reduceat(-np.logaddexp(0, -logits), offsets[:-1]) / np.diff(offsets) if len(offsets) > 1 else logits


def junctions(captions: EncodedCaptions, weights: CaptionWeights) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The logits of all junctions, and the offsets of those of each caption: one more than it has words."""
    n = len(captions.offsets) - 1
    rows = np.where(captions.numbers < 0, UNKNOWN, captions.numbers + FIRST_WORD)
    left = np.insert(rows, captions.offsets[:-1], START)
    right = np.insert(rows, captions.offsets[1:], END)
    width = weights.left.shape[1] - 1
    logits = np.einsum("ij,ij->i", weights.left[left, :width], weights.right[right, :width])
    logits = logits + weights.left[left, width] + weights.right[right, width]
    return logits.astype(np.float64), captions.offsets + np.arange(n + 1)
