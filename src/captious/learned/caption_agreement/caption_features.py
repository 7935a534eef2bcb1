"""Features of the metric ``captious``: vectors, agreement of words, and soundness of junctions.

Pure functions over arrays of words, and the annotation layer of the vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from captious.data import Captions, KeyedByFields, References
from captious.learned.caption_agreement.caption_alignment import Lexicon, Side, contradiction, near_copies, supports
from captious.learned.caption_agreement.caption_weights import END, FIRST_WORD, START, UNKNOWN, CaptionWeights
from captious.text import Tokenizer, Tokens, WordLayer
from captious.text.word_forms import negations

_ROWS_AT_ONCE = 1 << 14
_UNIT = 1 << 24  # parts that importance is counted in
_DIMENSIONS = 128  # in which words are compared; each half of all dimensions is trained to do


@dataclass(frozen=True, eq=False)
class KnownWords:
    """Properties of the words of a vocabulary.

    Args:
        vectors: float32[n_words, width], composed of subwords for words without a vector of their own.
        numbers: int32[n_words], numbers of the words in the weights, -1 for words without a vector.
        is_negation: bool[n_words], whether a word negates.
    """

    vectors: NDArray[np.float32]
    numbers: NDArray[np.int32]
    is_negation: NDArray[np.bool_]

    def lexicon(self, weights: CaptionWeights) -> Lexicon:
        """Return a lexicon with directions in part of the dimensions, and importance."""
        lengths = np.sqrt(np.einsum("ij,ij->i", self.vectors, self.vectors))
        directions = unit_vectors(np.ascontiguousarray(self.vectors[:, :_DIMENSIONS]))
        importance = lengths / np.float32(weights.typical_length)
        return Lexicon(directions, importance, self.numbers >= 0, self.is_negation)

    @classmethod
    def of(cls, words: list[str], weights: CaptionWeights) -> KnownWords:
        numbers = np.array([weights.numbers.get(word, -1) for word in words], np.int32)
        new = np.flatnonzero(numbers < 0)
        vectors = weights.vectors[numbers]
        vectors[new] = weights.spelled([words[i] for i in new.tolist()])
        is_negation = np.fromiter(map(negations(weights.language).__contains__, words), bool, len(words))
        return cls(vectors, numbers, is_negation)

    def and_of(self, words: list[str], weights: CaptionWeights) -> KnownWords:
        """Return these words, followed by others."""
        new = KnownWords.of(words, weights)
        pairs = zip(vars(self).values(), vars(new).values(), strict=True)
        return KnownWords(*map(np.concatenate, pairs))


@dataclass(frozen=True, eq=False)
class EncodedCaptions:
    """Captions as vectors.

    Args:
        vectors: float32[n_captions, width], of length 1, or 0 for a caption without words.
        tokens: their words.
        words: properties of the words of their vocabulary.
    """

    vectors: NDArray[np.float32]
    tokens: Tokens
    words: KnownWords

    @classmethod
    def of(cls, tokens: Tokens, words: KnownWords) -> EncodedCaptions:
        """Compute the normalized sums of word vectors."""
        ones = np.ones(len(tokens.ids), np.float32)
        shape = len(tokens.lengths), len(words.vectors)
        summed = csr_matrix((ones, tokens.ids, tokens.offsets), shape=shape) @ words.vectors
        return cls(unit_vectors(np.asarray(summed)), tokens, words)

    def take(self, rows: NDArray[np.int64]) -> EncodedCaptions:
        """Select captions, which may repeat."""
        return EncodedCaptions(self.vectors[rows], self.tokens.take(rows), self.words)

    @property
    def numbers(self) -> NDArray[np.int32]:
        """Numbers of the words in the weights, int32[n_tokens], -1 for those without a vector of their own."""
        return self.words.numbers[self.tokens.ids]


@dataclass(frozen=True, eq=False)
class EncodedReferences:
    """References as vectors; ``offsets`` has the boundaries of the images."""

    captions: EncodedCaptions
    offsets: NDArray[np.int64]

    @cached_property
    def centroids(self) -> NDArray[np.float64]:
        """Normalized sum of the references of each image, float64[n_images, width]."""
        return centroids(self.captions.vectors, self.offsets)


@dataclass(frozen=True)
class EncodedLayer(KeyedByFields):
    """``EncodedReferences`` of references, ``EncodedCaptions`` of candidates."""

    weights: CaptionWeights
    tokenizer: Tokenizer

    def of_references(self, references: References) -> EncodedReferences:
        tokens: Tokens = references.layer(WordLayer(self.tokenizer))
        words = KnownWords.of(tokens.vocabulary.words(), self.weights)
        return EncodedReferences(EncodedCaptions.of(tokens, words), references.offsets)

    def of_candidates(self, captions: Captions, references: EncodedReferences) -> EncodedCaptions:
        tokens: Tokens = captions.layer(WordLayer(self.tokenizer))[0]
        words = references.captions.words
        return EncodedCaptions.of(tokens, words.and_of(tokens.vocabulary.words(len(words.numbers)), self.weights))


def unit_vectors(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Divide rows by their lengths; zeros remain zeros."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    scaled: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-9))[:, None]
    return scaled


def centroids(vectors: NDArray[np.float32], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the normalized sum of the rows of each image, float64[n_images, width].

    Computed in double precision, so that the order of the references does not matter.
    """
    counts = np.diff(offsets)
    summed = np.zeros((len(counts), vectors.shape[1]))
    images = np.arange(len(counts))
    for place in range(counts.max(initial=0)):
        images = images[counts[images] > place]
        summed[images] += vectors[offsets[images] + place]
    summed /= np.maximum(np.sqrt(np.einsum("ij,ij->i", summed, summed)), 1e-9)[:, None]
    return summed


def similarities(
    candidates: NDArray[np.float32],
    references: NDArray[np.float32],
    offsets: NDArray[np.int64],
    centroids: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the cosine of each candidate with the sum of its references, and with the closest of them.

    Args:
        candidates: vectors of length 1, float32[n, width].
        references: vectors of all references, float32[n_references, width].
        offsets: the references of each candidate, int64[n + 1].
        centroids: see ``centroids``, float64[n, width].

    Returns:
        float64[n, 2]
    """
    with_centroid = np.einsum("ij,ij->i", candidates, centroids)
    closest = np.empty(len(candidates))
    for start in range(0, len(candidates), _ROWS_AT_ONCE):
        rows = offsets[start : start + _ROWS_AT_ONCE + 1]
        repeated = np.repeat(candidates[start : start + len(rows) - 1], np.diff(rows), axis=0)
        cosines = np.einsum("ij,ij->i", repeated, references[rows[0] : rows[-1]])
        closest[start : start + len(rows) - 1] = np.maximum.reduceat(cosines, rows[:-1] - rows[0])
    return np.stack([with_centroid, closest], axis=1)


def agreement(
    candidates: EncodedCaptions, references: EncodedReferences, weights: CaptionWeights
) -> NDArray[np.float64]:
    """Return contradiction, precision and recall of candidates, float64[n, 3].

    Precision is how well the words of a candidate are supported by those of its references, weighted by importance;
    recall is the converse.
    """
    lexicon = candidates.words.lexicon(weights)
    n, n_words = len(candidates.vectors), len(lexicon)
    left, right = sides(candidates, references)
    (keys, counts), (right_keys, right_counts) = left.distinct(n_words), right.distinct(n_words)

    def mean(keys: NDArray[np.int64], counts: NDArray[np.int64], helpers: NDArray[np.int64]) -> NDArray[np.float64]:
        images, words = np.divmod(keys, n_words)
        # Whole numbers, whose sums do not depend on the order of the words.
        shares = counts * np.rint(lexicon.importance[words].astype(np.float64) * _UNIT)
        supported = np.bincount(images, np.rint(shares * supports(keys, helpers, lexicon)[0]), n)
        return supported / np.maximum(np.bincount(images, shares, n), 1)

    differences = contradiction(left, right, near_copies(left, right, lexicon))
    return np.stack([differences, mean(keys, counts, right_keys), mean(right_keys, right_counts, keys)], axis=1)


def sides(candidates: EncodedCaptions, references: EncodedReferences) -> tuple[Side, Side]:
    """Return the words of candidates and of references."""
    n, tokens = len(candidates.vectors), references.captions.tokens
    return (
        Side(candidates.tokens.ids, candidates.tokens.offsets, np.arange(n)),
        Side(tokens.ids, tokens.offsets, np.repeat(np.arange(n), np.diff(references.offsets))),
    )


def slips(captions: EncodedCaptions, weights: CaptionWeights) -> NDArray[np.float64]:
    """Return how much less sound captions are than 95% of human captions, in standard deviations; float64[n], 0 or
    less.
    """
    least, deviation = weights.soundness
    return np.minimum(0, (soundness(captions, weights) - least) / deviation)


def soundness(captions: EncodedCaptions, weights: CaptionWeights) -> NDArray[np.float64]:
    """Return the mean log-probability that a junction of each caption is sound, float64[n], 0 or less."""
    logits, offsets = junctions(captions, weights)
    return np.add.reduceat(-np.logaddexp(0, -logits), offsets[:-1]) / np.diff(offsets) if len(offsets) > 1 else logits


def junctions(captions: EncodedCaptions, weights: CaptionWeights) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the logits of all junctions, and the offsets of those of each caption, which has one more than words."""
    offsets, numbers = captions.tokens.offsets, captions.numbers
    rows = np.where(numbers < 0, UNKNOWN, numbers + FIRST_WORD)
    left = np.insert(rows, offsets[:-1], START)
    right = np.insert(rows, offsets[1:], END)
    width = weights.left.shape[1] - 1
    # Most pairs of neighbors occur in many captions.
    pairs, place = np.unique(left.astype(np.int64) * len(weights.right) + right, return_inverse=True)
    left_rows, right_rows = np.divmod(pairs, len(weights.right))
    logits = np.einsum("ij,ij->i", weights.left[left_rows, :width], weights.right[right_rows, :width])
    logits = logits + weights.left[left_rows, width] + weights.right[right_rows, width]
    return logits.astype(np.float64)[place], offsets + np.arange(len(offsets))
