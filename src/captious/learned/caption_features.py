"""Features of the metric ``concur``: vectors, support and contradiction of words, junctions, heads on encoders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from captious.data import Captions, KeyedByFields, References
from captious.errors import ParameterError
from captious.learned.caption_weights import END, FEATURES, FIRST_WORD, START, UNKNOWN, CaptionWeights
from captious.learned.files import packed, read_weights, unpacked, write_weights
from captious.models import Encoder
from captious.models.encoders import numbered
from captious.native import closest_words, lcs_lengths, subsequence_places, threads
from captious.text import Tokenizer, Tokens, WordLayer
from captious.text.stems import negations
from captious.text.tokens import ranges

# Support and contradiction between the words of a caption and those of its references.
#
# Pure functions over arrays of words. A word is supported by the word of the other side with the closest vector, fully
# if it occurs there. A caption contradicts its references where the same two words enclose different ones, as in "a red
# car" and "a blue car", provided that the rest is a copy.

_LEAST_IMPORTANT = 0.35  # words below are only supported by themselves
_COPY = 0.75  # share of words that a caption has in common with a reference, above which it is a copy with changes
_ELSEWHERE = 0.5  # weight of a difference if another reference has the word


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Properties of words.

    Args:
        directions: vectors of length 1, float32[n_words, width].
        importance: float32[n_words], 0 or more; 1 for a typical word.
        is_known: bool[n_words], whether a word has a vector of its own, so that its meaning is known.
        is_negation: bool[n_words], whether a word negates, like "not" and "without".
    """

    directions: NDArray[np.float32]
    importance: NDArray[np.float32]
    is_known: NDArray[np.bool_]
    is_negation: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.importance)


@dataclass(frozen=True, eq=False)
class Side:
    """Captions as words, one or several for each image.

    Args:
        ids: int[n_tokens], numbers of words.
        offsets: int64[n_captions + 1], the boundaries of the captions.
        images: int64[n_captions], the image of each caption, ascending from 0.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    images: NDArray[np.int64]

    @property
    def image_of_token(self) -> NDArray[np.int64]:
        """Image of each token, int64[n_tokens]."""
        return np.repeat(self.images, np.diff(self.offsets))

    def distinct(self, n_words: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the distinct words of each image as ``image * n_words + word``, ascending, and their counts."""
        return np.unique(self.image_of_token * n_words + self.ids, return_counts=True)


def supports(
    keys: NDArray[np.int64], helpers: NDArray[np.int64], lexicon: Lexicon
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return how well words of one side are supported by words of the other.

    Args:
        keys: words of images, as returned by ``Side.distinct``.
        helpers: words of the other side.
        lexicon: properties of words.

    Returns:
        The support of each word, 0 to 1, and the word that supports it best, -1 for none.
    """
    n_words = len(lexicon)
    words = keys % n_words
    if not len(keys) or not len(helpers):
        return np.zeros(len(keys)), np.full(len(keys), -1)
    firsts = np.arange(max(keys[-1], helpers[-1]) // n_words + 2) * n_words  # first possible key of each image
    place = np.minimum(np.searchsorted(helpers, keys), len(helpers) - 1)
    is_same = helpers[place] == keys
    support, best = is_same.astype(np.float64), np.where(is_same, words, -1)
    helpers = helpers[lexicon.importance[helpers % n_words] >= _LEAST_IMPORTANT]
    rows = np.flatnonzero(~is_same & (lexicon.importance[words] >= _LEAST_IMPORTANT))
    cosines, closest = closest_words(
        lexicon.directions,
        *(words[rows].astype(np.int32), np.searchsorted(keys[rows], firsts)),
        *((helpers % n_words).astype(np.int32), np.searchsorted(helpers, firsts)),
        threads(),
    )
    support[rows], best[rows] = np.maximum(cosines, 0), closest
    best[support == 0] = -1
    return support, best


@dataclass(frozen=True, eq=False)
class NearCopies:
    """Candidates aligned with references that they nearly copy.

    Args:
        references: int64[n_pairs], numbers of the references, ascending.
        closeness: float64[n_pairs], how nearly the candidate contains a copy of the reference, above 0 to 1.
        token: int64[n], words of the candidates of these pairs, as positions among all words of candidates: those that
            are identical in the reference, and those that replace others.
        pair: int64[n], the pair of each.
        difference: float64[n], how much the word differs from those that it replaces, weighted by its importance: 0 if
            it is the same, or if it is unknown whether they differ.
        counterpart: int64[n], the replaced word that it differs from least, -1 without a difference.
        negations: int64[n_pairs], how many more negations the candidate has than the reference.
    """

    references: NDArray[np.int64]
    closeness: NDArray[np.float64]
    token: NDArray[np.int64]
    pair: NDArray[np.int64]
    difference: NDArray[np.float64]
    counterpart: NDArray[np.int64]
    negations: NDArray[np.int64]


def near_copies(candidates: Side, references: Side, lexicon: Lexicon) -> NearCopies:
    """Align candidates with the references that they nearly copy, by a longest common subsequence.

    Between two adjacent shared words, the words of the candidate replace those of the reference. Words of the candidate
    before or after all shared words do not make it less of a copy.
    """
    bounds = np.searchsorted(references.images, np.arange(len(candidates.offsets)))
    in_order = lcs_lengths(candidates.ids, candidates.offsets, references.ids, references.offsets, bounds, threads())
    lengths = np.diff(candidates.offsets)[references.images], np.diff(references.offsets)
    rows = np.flatnonzero(_shared(in_order, np.minimum(*lengths)) > _COPY * lengths[1])
    images, n_left, n_right = references.images[rows], lengths[0][rows], lengths[1][rows]
    token = ranges(candidates.offsets[images], n_left)
    left, right = candidates.ids[token], references.ids[ranges(references.offsets[rows], n_right)]
    shared = _shared(in_order[rows], _overlaps(left, n_left, right, n_right, len(lexicon)))
    place = _places(left, n_left, right, n_right)
    is_same, pair = place >= 0, np.repeat(np.arange(len(rows)), n_left)
    anchors = np.flatnonzero(is_same)
    first, last = (np.searchsorted(pair[anchors], np.arange(len(rows)), side=side) for side in ("left", "right"))
    is_aligned = last > first  # not so if captions are too long to be aligned
    spans = np.zeros(len(rows), np.int64)
    spans[is_aligned] = anchors[last[is_aligned] - 1] - anchors[first[is_aligned]] + 1
    share = is_aligned * shared / np.maximum(n_right, spans)
    closeness = np.maximum((share - _COPY) / (1 - _COPY), 0)

    begins, starts = np.cumsum(n_right) - n_right, np.cumsum(n_left) - n_left
    begin, end = _spans_between(is_same, np.where(is_same, place + begins[pair], 0), begins[pair], n_right[pair])
    before, behind = _spans_between(is_same, np.arange(len(pair)), starts[pair], n_left[pair])
    is_inside = (before > starts[pair]) & (behind < (starts + n_left)[pair])
    sizes = np.maximum(np.where(is_inside, behind - before, 1), end - begin)
    difference, counterpart = np.zeros(len(token)), np.full(len(token), -1)
    at = np.flatnonzero(~is_same & (end > begin) & (closeness > 0)[pair])
    if len(at):
        n = (end - begin)[at]
        counterparts, words = right[ranges(begin[at], n)], np.repeat(left[at], n)
        cosines = np.ones(len(words))
        differ = lexicon.is_known[words] & lexicon.is_known[counterparts]
        cosines[differ] = np.einsum(
            "ij,ij->i", lexicon.directions[words[differ]], lexicon.directions[counterparts[differ]]
        )
        closest = np.maximum.reduceat(cosines, np.cumsum(n) - n)
        best = np.flatnonzero(differ & (cosines == np.repeat(closest, n)))[::-1]
        counterpart[np.repeat(at, n)[best]] = counterparts[best]
        difference[at] = lexicon.importance[left[at]] * np.maximum(1 - closest, 0) / sizes[at]
        difference[at[_are_elsewhere(left[at], rows[pair[at]], references, len(lexicon))]] *= _ELSEWHERE
        counterpart[difference == 0] = -1
    counted = (is_same | (end > begin)) & (closeness > 0)[pair]
    negations = np.bincount(pair, lexicon.is_negation[left], len(rows))
    negations -= np.bincount(np.repeat(np.arange(len(rows)), n_right), lexicon.is_negation[right], len(rows))
    return NearCopies(
        *(rows, closeness, token[counted], pair[counted], difference[counted], counterpart[counted]),
        negations.astype(np.int64),
    )


def _shared(in_order: NDArray[np.int64], in_any_order: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the number of words that captions share, with those out of order counted one half."""
    return np.asarray((in_order + in_any_order) / 2)


def _overlaps(
    left: NDArray[np.int32],
    n_left: NDArray[np.int64],
    right: NDArray[np.int32],
    n_right: NDArray[np.int64],
    n_words: int,
) -> NDArray[np.int64]:
    """Return the number of words that the two captions of each pair share, in any order."""
    (left_keys, left_counts), (right_keys, right_counts) = (
        np.unique(np.repeat(np.arange(len(n)), n) * n_words + words, return_counts=True)
        for words, n in ((left, n_left), (right, n_right))
    )
    if not len(right_keys):
        return np.zeros(len(n_left), np.int64)
    places = np.minimum(np.searchsorted(right_keys, left_keys), len(right_keys) - 1)
    overlaps = np.where(right_keys[places] == left_keys, np.minimum(left_counts, right_counts[places]), 0)
    return np.bincount(left_keys // n_words, overlaps, len(n_left)).astype(np.int64)


def _places(
    left: NDArray[np.int32], n_left: NDArray[np.int64], right: NDArray[np.int32], n_right: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the position of each word in the other caption of its pair, -1 for none."""
    left_ends, right_ends = (np.concatenate([[0], np.cumsum(lengths)]) for lengths in (n_left, n_right))
    return subsequence_places(left, left_ends, right, right_ends, threads()).astype(np.int64)


def _spans_between(
    is_same: NDArray[np.bool_], at: NDArray[np.int64], first: NDArray[np.int64], length: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each word, the span between the nearest shared words around it."""
    begins = np.maximum.accumulate(np.where(is_same, at + 1, first))
    return begins, np.minimum.accumulate(np.where(is_same, at, first + length)[::-1])[::-1]


def _are_elsewhere(
    words: NDArray[np.int32], captions: NDArray[np.int64], references: Side, n_words: int
) -> NDArray[np.bool_]:
    """Return whether each of these words occurs in a reference of the image other than that of its pair."""
    keys, counts = references.distinct(n_words)
    images = references.images[captions]
    word_keys = images * n_words + words
    places = np.minimum(np.searchsorted(keys, word_keys), len(keys) - 1)
    n = np.where(keys[places] == word_keys, counts[places], 0)
    rows = np.flatnonzero(n)
    lengths = np.diff(references.offsets)[captions[rows]]
    is_word = references.ids[ranges(references.offsets[captions[rows]], lengths)] == np.repeat(words[rows], lengths)
    n[rows] -= np.bincount(np.repeat(np.arange(len(rows)), lengths), is_word, len(rows)).astype(np.int64)
    return n > 0


def word_contradictions(copies: NearCopies, n_tokens: int) -> NDArray[np.float64]:
    """Return how much each word of a candidate contradicts the references, float64[n_tokens].

    A difference from a reference is weighted by its closeness, and is at most that from closer references.
    """
    closeness = copies.closeness[copies.pair]
    order = np.lexsort((copies.difference, -closeness, copies.token))
    token = copies.token[order]
    # The least difference is searched among ranks, which are exact integers, again for each word.
    levels, ranks = np.unique(copies.difference[order], return_inverse=True)
    begins = token * len(levels)
    least = levels[np.minimum.accumulate(ranks - begins) + begins]
    largest = np.zeros(n_tokens)
    np.maximum.at(largest, token, closeness[order] * least)
    return largest


def words_instead(copies: NearCopies, n_tokens: int) -> NDArray[np.int64]:
    """Return the word of the closest reference that each contradicting word of a candidate replaces; -1 for others."""
    instead = np.full(n_tokens, -1)
    order = np.argsort(copies.closeness[copies.pair], kind="stable")
    instead[copies.token[order]] = copies.counterpart[order]
    return np.where(word_contradictions(copies, n_tokens) > 0, instead, -1)


def negation_contradictions(copies: NearCopies, images: NDArray[np.int64], n_images: int) -> NDArray[np.float64]:
    """Return how much closer each candidate is to a reference with more or fewer negations than to any other, 0 to 1.

    Args:
        copies: near copies.
        images: int64[n_references], images of the references.
        n_images: number of images.

    Returns:
        float64[n_images]
    """
    image, is_same = images[copies.references], copies.negations == 0
    same, different = np.zeros(n_images), np.zeros(n_images)
    np.maximum.at(same, image[is_same], copies.closeness[is_same])
    np.maximum.at(different, image[~is_same], copies.closeness[~is_same])
    return np.maximum(different - same, 0)


def contradiction(candidates: Side, references: Side, copies: NearCopies) -> NDArray[np.float64]:
    """Return the summed contradictions of the words of each candidate and of its negations, float64[n_candidates]."""
    n = len(candidates.offsets) - 1
    words = word_contradictions(copies, len(candidates.ids))
    return np.asarray(
        np.bincount(candidates.image_of_token, words, n) + negation_contradictions(copies, references.images, n)
    )


# Vectors, agreement of words, and soundness of junctions: pure functions over arrays of words, and the annotation layer
# of the vectors.

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


# Heads on contextual encoders, for the variant ``full`` of the metric ``concur``: hidden states to caption vectors.
#
# A head is trained for one encoder. Its file names the encoder and holds the encoder's output for a few captions, to
# ensure that a head is never used with another encoder. Captions as such vectors are an annotation layer.

#: The head that the package ships.
BUNDLED_HEAD = Path(__file__).parent / "weights" / "concur-full.safetensors"

#: Features of the variant ``full``, in the order of ``EncoderHead.coefficients``.
FULL_FEATURES = ("head-centroid", "head-closest", *FEATURES)

#: Poolings of a caption's hidden states, concatenated; "first" and "last" are those of tokens.
POOLS = ("mean", "largest", "first", "last")

#: The captions by which an encoder is recognized.
PROBES = ("a dog runs across the grass", "two people not far from a red bus", "plates of food on a table", "snow")

_ALIKE = 0.999  # cosine of vectors of one encoder on two machines or in two precisions
_HELP = "use weights that training/concur/train_head.py wrote"


@dataclass(frozen=True, eq=False)
class EncoderHead:
    """A head: maps the hidden states of one encoder to caption vectors, and features to a score.

    Args:
        encoder: the name of the encoder.
        probes: pooled states of ``PROBES``, float32[4, n].
        matrix: projection of pooled states to vectors, float32[n, width].
        light: the name of the weights of the variant ``light`` with which the coefficients were fitted.
        bias, coefficients: of the logistic function of ``FULL_FEATURES``.
        about: the training of the head.
        name: name in signatures.
    """

    encoder: str
    probes: NDArray[np.float32]
    matrix: NDArray[np.float32]
    light: str
    bias: float
    coefficients: NDArray[np.float64]
    about: Mapping[str, Any]
    name: str

    def vectors(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return caption vectors of length 1, float32[b, width], from hidden states, float32[b, tokens, d]."""
        return unit_vectors(pooled(states) @ self.matrix)

    def check(self, encoder: Encoder) -> None:
        """Check that an encoder is the one that the head was trained for.

        Raises:
            ParameterError: it is another.
        """
        if (encoder.width * len(POOLS),) != self.probes.shape[1:]:
            problem = f"its hidden states have {encoder.width} dimensions, not {self.probes.shape[1] // len(POOLS)}"
        elif (_cosines(probe(encoder), self.probes) < _ALIKE).any():
            problem = "its hidden states are different"
        else:
            return
        raise ParameterError(
            f"the weights {self.name} were trained for another encoder, {self.encoder}",
            where=f"{encoder.name}: {problem}",
            hint="use that encoder, or train weights: python training/concur/train_head.py --model MODEL",
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the head as a safetensors file.

        Raises:
            OutputError: the file cannot be written.
        """
        matrix, scales = packed(self.matrix)
        tensors: dict[str, NDArray[Any]] = {
            "probes": np.ascontiguousarray(self.probes, np.float32),
            **{"matrix": matrix, "matrix.scales": scales},
            "score": np.array([self.bias, *self.coefficients]),
        }
        value = {"about": self.about, "encoder": self.encoder, "light": self.light}
        write_weights(path, tensors, value, "head")

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> EncoderHead:
        """Read a head; None for that of the package.

        Raises:
            ResourceError: the file cannot be read, or is not a head.
        """
        if path is None:
            return _bundled()
        return read_weights(path, _parse_tensors, entry="head", what="concur@full", help=_HELP)


def pooled(states: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the ``POOLS`` of the hidden states of captions, float32[b, 4 * d], from float32[b, tokens, d]."""
    return np.concatenate([states.mean(axis=1), states.max(axis=1), states[:, 0], states[:, -1]], axis=1)


def probe(encoder: Encoder) -> NDArray[np.float32]:
    """Return pooled hidden states of ``PROBES``, float32[4, n]."""
    layer = encoder.n_blocks
    states = np.empty((len(PROBES), len(POOLS) * encoder.width), np.float32)
    for batch in encoder.run(encoder.tokenize(PROBES), [layer]):
        states[batch.rows] = pooled(batch.hidden[layer])
    return states


def _cosines(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines: NDArray[np.float32] = np.einsum("ij,ij->i", a, b) / np.maximum(lengths, 1e-9)
    return cosines


@cache
def _bundled() -> EncoderHead:
    return EncoderHead.load(BUNDLED_HEAD)


def _parse_tensors(tensors: dict[str, NDArray[Any]], config: Any, name: str) -> EncoderHead:
    about, encoder, light = config["about"], config["encoder"], config["light"]
    matrix = unpacked(tensors["matrix"], tensors["matrix.scales"])
    probes, score = tensors["probes"], tensors["score"]
    sound = (
        probes.shape == (len(PROBES), len(matrix))
        and probes.dtype == np.float32
        and score.shape == (1 + len(FULL_FEATURES),)
        and all(np.isfinite(array).all() for array in (probes, matrix, score))
        and isinstance(about, dict)
        and isinstance(encoder, str)
        and isinstance(light, str)
    )
    if not sound:
        raise ValueError("shapes do not match")
    return EncoderHead(encoder, probes, matrix, light, float(score[0]), score[1:], about, name)


@dataclass(frozen=True, eq=False)
class HeadedCaptions:
    """Captions as vectors of length 1.

    Args:
        vectors: of the distinct captions, float32[n_distinct, width].
        rows: the distinct caption of each caption, int64[n_captions].
        numbers: of the distinct captions, by their words.
        offsets: for references, the rows of each image, int64[n_images + 1].
    """

    vectors: NDArray[np.float32]
    rows: NDArray[np.int64]
    numbers: Mapping[str, int]
    offsets: NDArray[np.int64] | None = None

    @cached_property
    def centroids(self) -> NDArray[np.float64]:
        """Normalized sum of the references of each image, float64[n_images, width]."""
        assert self.offsets is not None
        return centroids(self.vectors[self.rows], self.offsets)


@dataclass(frozen=True)
class HeadedLayer(KeyedByFields):
    """``HeadedCaptions`` of references and candidates.

    The encoder reads the tokens, joined by spaces, so that punctuation and capitals make no difference.
    """

    head: EncoderHead
    encoder: Encoder
    tokenizer: Tokenizer

    def of_references(self, references: References) -> HeadedCaptions:
        tokens: Tokens = references.layer(WordLayer(self.tokenizer))
        return self._encoded(tokens, references.offsets, None)

    def of_candidates(self, captions: Captions, references: HeadedCaptions) -> HeadedCaptions:
        tokens: Tokens = captions.layer(WordLayer(self.tokenizer))[0]
        return self._encoded(tokens, None, references)

    def _encoded(
        self, tokens: Tokens, offsets: NDArray[np.int64] | None, references: HeadedCaptions | None
    ) -> HeadedCaptions:
        distinct, rows = numbered(joined_words(tokens))
        vectors = np.zeros((len(distinct), self.head.matrix.shape[1]), np.float32)
        new = []
        for row, text in enumerate(distinct):
            if references is not None and text in references.numbers:
                vectors[row] = references.vectors[references.numbers[text]]
            elif text:
                new.append(row)
        layer = self.encoder.n_blocks
        for batch in self.encoder.run(self.encoder.tokenize([distinct[row] for row in new]), [layer]):
            vectors[[new[place] for place in batch.rows.tolist()]] = self.head.vectors(batch.hidden[layer])
        return HeadedCaptions(vectors, rows, {text: row for row, text in enumerate(distinct)}, offsets)


def joined_words(tokens: Tokens) -> list[str]:
    """Return the words of each caption, joined by spaces."""
    words = tokens.vocabulary.words()
    ids, offsets = tokens.ids.tolist(), tokens.offsets.tolist()
    return [" ".join(map(words.__getitem__, ids[i:j])) for i, j in pairwise(offsets)]
