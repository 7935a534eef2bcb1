"""Support and contradiction between the words of a caption and those of its references.

Pure functions over arrays of words. A word is supported by the word of the other side with the closest vector, fully if
it occurs there. A caption contradicts its references where the same two words enclose different ones, as in "a red car"
and "a blue car", provided that the rest is a copy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.native import closest_words, lcs_lengths, subsequence_places, threads
from captious.text.tokens import ranges

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
