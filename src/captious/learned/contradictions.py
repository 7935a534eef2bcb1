"""Contradictions between a caption and its references: words in the place of others, exchanged words, and negations.

Pure functions over arrays of words. A word contradicts if no reference supports it and it stands where a reference, of
which the rest of the caption is a copy, has a word that the caption lacks and most references have. Two words are
exchanged if the caption is much closer to a reference after they change places. A negation contradicts if it denies
what the references state, or states what they deny.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.files import sections
from captious.native import closest_words, lcs_lengths, subsequence_places, threads
from captious.text.tokens import ranges

_LEAST_IMPORTANT = 0.35  # words below are only supported by themselves
_ALIKE, _OTHER = 0.5, 0.25  # cosines of words above which they mean the same, and below which something else
_COPY = 0.6  # share of words that a caption has in common with a reference, above which it is a copy with changes
_REARRANGED = 0.75  # the same for a copy with exchanged words
_LONGEST = 40  # words of captions in which exchanged words are looked for

_TEXT = sections(Path(__file__).with_name("words.txt"))
#: Words that carry no meaning in the alignment of captions.
ARTICLES: Mapping[str, Set[str]] = {code: {*_TEXT[f"articles {code}"].split()} for code in ("en", "de")}
#: Words between two that may change places.
SYMMETRIC: Mapping[str, Set[str]] = {code: {*_TEXT[f"symmetric {code}"].split()} for code in ("en", "de")}


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Properties of words.

    Args:
        directions: vectors of length 1, float32[n_words, width].
        importance: float32[n_words], 0 or more; 1 for a typical word.
        is_known: bool[n_words], whether a word has a vector of its own, so that its meaning is known.
        is_negation, is_article, is_symmetric: bool[n_words], whether a word is one of these.
    """

    directions: NDArray[np.float32]
    importance: NDArray[np.float32]
    is_known: NDArray[np.bool_]
    is_negation: NDArray[np.bool_]
    is_article: NDArray[np.bool_]
    is_symmetric: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.importance)

    @property
    def is_content(self) -> NDArray[np.bool_]:
        """Whether a word says something by itself, bool[n_words]."""
        return (self.importance >= _LEAST_IMPORTANT) & ~self.is_negation


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
    def captions(self) -> NDArray[np.int64]:
        """The caption of each token, int64[n_tokens]."""
        return np.repeat(np.arange(len(self.images)), np.diff(self.offsets))

    @property
    def image_of_token(self) -> NDArray[np.int64]:
        """The image of each token, int64[n_tokens]."""
        return np.repeat(self.images, np.diff(self.offsets))

    def keys(self, n_words: int) -> NDArray[np.int64]:
        """Return each word of each image as ``image * n_words + word``, int64[n_tokens]."""
        return self.image_of_token * n_words + self.ids

    def only(self, tokens: NDArray[np.bool_]) -> Side:
        """Return the captions with only these tokens."""
        lengths = np.bincount(self.captions[tokens], minlength=len(self.images))
        return Side(self.ids[tokens], np.concatenate([[0], np.cumsum(lengths)]), self.images)


def supports(side: Side, helpers: NDArray[np.int64], lexicon: Lexicon) -> NDArray[np.float64]:
    """Return how well each word of one side is supported by words of the other, float64[n_tokens], 0 to 1.

    Args:
        side: captions.
        helpers: distinct keys of words of the other side, ascending.
        lexicon: properties of words.
    """
    n_words = len(lexicon)
    keys, token = np.unique(side.keys(n_words), return_inverse=True)
    if not len(keys) or not len(helpers):
        return np.zeros(len(token))
    words = keys % n_words
    firsts = np.arange(max(keys[-1], helpers[-1]) // n_words + 2) * n_words  # first possible key of each image
    is_same = helpers[np.minimum(np.searchsorted(helpers, keys), len(helpers) - 1)] == keys
    support = is_same.astype(np.float64)
    helpers = helpers[lexicon.importance[helpers % n_words] >= _LEAST_IMPORTANT]
    rows = np.flatnonzero(~is_same & (lexicon.importance[words] >= _LEAST_IMPORTANT))
    cosines, _ = closest_words(
        lexicon.directions,
        *(words[rows].astype(np.int32), np.searchsorted(keys[rows], firsts)),
        *((helpers % n_words).astype(np.int32), np.searchsorted(helpers, firsts)),
        threads(),
    )
    support[rows] = np.maximum(cosines, 0)
    of_tokens: NDArray[np.float64] = support[token]
    return of_tokens


@dataclass(frozen=True, eq=False)
class Contradictions:
    """Contradictions of candidates.

    Args:
        differences: float64[n_tokens], how much each word of the candidates contradicts the references.
        instead: int64[n_tokens], the word of a reference that it replaces; -1 for none.
        confirmed: bool[n_tokens], whether a word stands in the place of a reference's word, and only another reference
            has it.
        exchanged: float64[n_candidates], how nearly the candidate is a copy in which two words changed places.
        denied: float64[n_candidates], how much its negations contradict the references.
    """

    differences: NDArray[np.float64]
    instead: NDArray[np.int64]
    confirmed: NDArray[np.bool_]
    exchanged: NDArray[np.float64]
    denied: NDArray[np.float64]


def contradictions(candidates: Side, references: Side, lexicon: Lexicon, in_order: NDArray[np.int64]) -> Contradictions:
    """Find the contradictions of candidates; both sides without articles.

    Args:
        candidates, references: the words, without articles.
        lexicon: properties of words.
        in_order: int64[n_references], length of the longest common subsequence of each reference with its candidate.
    """
    found = Contradictions(
        np.zeros(len(candidates.ids)),
        np.full(len(candidates.ids), -1),
        np.zeros(len(candidates.ids), bool),
        np.zeros(len(candidates.images)),
        _denied(candidates, references, lexicon),
    )
    n_left, n_right = np.diff(candidates.offsets)[references.images], np.diff(references.offsets)
    rows = np.flatnonzero((in_order + np.minimum(n_left, n_right)) / 2 > _COPY * n_right)
    if len(rows):
        copies = _Copies(candidates, references, lexicon, rows, in_order[rows])
        copies.find_differences(found)
        copies.find_exchanged(found)
    return found


class _Copies:
    """Candidates aligned with the references that they nearly copy, one pair of captions a row."""

    def __init__(
        self,
        candidates: Side,
        references: Side,
        lexicon: Lexicon,
        rows: NDArray[np.int64],
        in_order: NDArray[np.int64],
    ) -> None:
        self._candidates, self._references, self._lexicon = candidates, references, lexicon
        self._rows, self._in_order, self._images = rows, in_order, references.images[rows]
        self._first = np.searchsorted(references.images, np.arange(len(candidates.images) + 1))
        n_left, n_right = np.diff(candidates.offsets)[self._images], np.diff(references.offsets)[rows]
        self._token = ranges(candidates.offsets[self._images], n_left)
        self._other = ranges(references.offsets[rows], n_right)
        self._left, self._right = candidates.ids[self._token], references.ids[self._other]
        self._ends_left, self._ends_right = (np.concatenate([[0], np.cumsum(n)]) for n in (n_left, n_right))
        self._n_left, self._n_right = n_left, n_right
        self._shared = self._overlaps()

    def _overlaps(self) -> NDArray[np.int64]:
        """Return the number of words that the captions of each row share, in any order."""
        n_words = len(self._lexicon)
        (left, left_counts), (right, right_counts) = (
            np.unique(np.repeat(np.arange(len(n)), n) * n_words + words, return_counts=True)
            for words, n in ((self._left, self._n_left), (self._right, self._n_right))
        )
        places = np.minimum(np.searchsorted(right, left), len(right) - 1)
        overlaps = np.where(right[places] == left, np.minimum(left_counts, right_counts[places]), 0)
        return np.bincount(left // n_words, overlaps, len(self._rows)).astype(np.int64)

    def find_differences(self, found: Contradictions) -> None:
        """Find words in the place of others: contradictions, and words that another reference confirms."""
        place = subsequence_places(self._left, self._ends_left, self._right, self._ends_right, threads())
        is_same, pair = place >= 0, np.repeat(np.arange(len(self._rows)), self._n_left)
        anchors = np.flatnonzero(is_same)
        first, last = (np.searchsorted(pair[anchors], np.arange(len(self._rows)), side=s) for s in ("left", "right"))
        is_aligned = last > first  # not so if captions are too long to be aligned
        spans = np.zeros(len(self._rows), np.int64)
        spans[is_aligned] = anchors[last[is_aligned] - 1] - anchors[first[is_aligned]] + 1
        share = is_aligned * (self._in_order + self._shared) / 2 / np.maximum(self._n_right, spans)
        closeness = np.maximum((share - _COPY) / (1 - _COPY), 0)

        start = self._ends_right[pair]
        begin = np.maximum.accumulate(np.where(is_same, place + start + 1, start))
        end = np.minimum.accumulate(np.where(is_same, place + start, self._ends_right[pair + 1])[::-1])[::-1]
        is_other = ~is_same & (end > begin) & (closeness[pair] > 0)
        found.confirmed[self._token[is_other & self._is_in_others(pair)]] = True
        strange, lacking = self._unsupported()
        at = np.flatnonzero(is_other & (strange[self._token] > 0))
        if not len(at):
            return
        n = (end - begin)[at]
        replaced = self._other[ranges(begin[at], n)]
        weights = lacking[replaced] * self._agreed(replaced, self._images[np.repeat(pair[at], n)]) ** 2
        starts = np.cumsum(n) - n
        largest = np.maximum.reduceat(weights, starts)
        best = np.flatnonzero(weights == np.repeat(largest, n))[::-1]
        counterpart = np.full(len(at), -1)
        counterpart[np.repeat(np.arange(len(at)), n)[best]] = self._references.ids[replaced[best]]
        token = self._token[at]
        difference = closeness[pair[at]] * largest * strange[token]
        order = np.argsort(difference, kind="stable")
        found.differences[token[order]] = difference[order]
        instead = np.where(difference > 0, counterpart, -1)
        found.instead[token[order]] = instead[order]

    def _is_in_others(self, pair: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which words of the candidates other references have, but not the one of their row."""
        n_words = len(self._lexicon)
        own = np.repeat(np.arange(len(self._rows)), self._n_right) * n_words + self._right
        of_image = self._images[pair] * n_words + self._left
        return np.isin(of_image, self._references.keys(n_words)) & ~np.isin(pair * n_words + self._left, own)

    def _unsupported(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how much each word of candidates, and of references, means something that the other side lacks."""
        lexicon, sides = self._lexicon, (self._candidates, self._references)
        values = []
        for side, other in (sides, sides[::-1]):
            support = supports(side, np.unique(other.keys(len(lexicon))), lexicon)
            difference = np.clip((_ALIKE - support) / (_ALIKE - _OTHER), 0, 1)
            values.append(difference * lexicon.is_known[side.ids] * np.minimum(lexicon.importance[side.ids], 1))
        return values[0], values[1]

    def _agreed(self, tokens: NDArray[np.int64], images: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the share of the references of its image that have a word like each of these."""
        references, directions = self._references, self._lexicon.directions
        first, last = (references.offsets[self._first[images + i]] for i in (0, 1))
        others = ranges(first, last - first)
        of = np.repeat(np.arange(len(tokens)), last - first)
        one, two = references.ids[tokens][of], references.ids[others]
        alike = (one == two) | (np.einsum("ij,ij->i", directions[one], directions[two]) >= _ALIKE)
        captions = np.unique(of[alike] * len(references.images) + references.captions[others[alike]])
        counts = np.bincount(captions // len(references.images), minlength=len(tokens))
        return np.asarray(counts / (self._first[images + 1] - self._first[images]))

    def find_exchanged(self, found: Contradictions) -> None:
        """Find captions that are copies but for two words that changed places."""
        share = self._shared / np.maximum(self._n_left, self._n_right)
        longest = np.maximum(self._n_left, self._n_right)
        rows = (self._shared - self._in_order >= 2) & (share >= _REARRANGED) & (longest <= _LONGEST)
        exchanges: list[tuple[int, int, int, list[int]]] = []
        for row in np.flatnonzero(rows).tolist():
            exchanges += [(row, *exchange) for exchange in self._exchanges(row)]
        if not exchanges:
            return
        pairs = np.array([row for row, *_ in exchanges])
        texts = [text for *_, text in exchanges]
        lengths = lcs_lengths(
            np.concatenate(texts).astype(np.int32),
            np.concatenate([[0], np.cumsum([len(text) for text in texts])]),
            self._right[ranges(self._ends_right[pairs], self._n_right[pairs])],
            np.concatenate([[0], np.cumsum(self._n_right[pairs])]),
            np.arange(len(pairs) + 1),
            threads(),
        )
        for (row, i, j, text), length in zip(exchanges, lengths.tolist(), strict=True):
            if length < self._in_order[row] + 2 or self._is_elsewhere(row, text[j], text[i]):
                continue
            image, start = self._images[row], self._candidates.offsets[self._images[row]]
            value = (share[row] - _REARRANGED / 2) / (1 - _REARRANGED / 2)
            found.exchanged[image] = max(found.exchanged[image], value)
            found.instead[start + i], found.instead[start + j] = text[i], text[j]

    def _exchanges(self, row: int) -> list[tuple[int, int, list[int]]]:
        """Return pairs of words of a candidate in another order than in the reference, and it with them exchanged."""
        left = self._left[self._ends_left[row] : self._ends_left[row + 1]].tolist()
        right = self._right[self._ends_right[row] : self._ends_right[row + 1]].tolist()
        content, symmetric = self._lexicon.is_content, self._lexicon.is_symmetric
        if self._is_turned(left, right):
            return []
        once = {w for w in left if content[w] and left.count(w) == right.count(w) == 1}
        places = [i for i, word in enumerate(left) if word in once]
        found = []
        for i in places:
            for j in places:
                if j < i + 2 or right.index(left[i]) < right.index(left[j]):
                    continue
                if all(symmetric[w] for w in left[i + 1 : j]):
                    continue
                text = left.copy()
                text[i], text[j] = text[j], text[i]
                found.append((i, j, text))
        return found

    def _is_turned(self, left: list[int], right: list[int]) -> bool:
        """Return whether the parts before and after symmetric words changed places: "a red car by a blue house"."""
        symmetric = self._lexicon.is_symmetric
        for start in (i for i, word in enumerate(left) if symmetric[word] and not (i and symmetric[left[i - 1]])):
            end = next((i for i in range(start, len(left)) if not symmetric[left[i]]), len(left))
            if left[end:] + left[start:end] + left[:start] == right:
                return True
        return False

    def _is_elsewhere(self, row: int, first: int, second: int) -> bool:
        """Return whether another reference has two words in this order."""
        references, image = self._references, self._images[row]
        for other in range(self._first[image], self._first[image + 1]):
            words = references.ids[references.offsets[other] : references.offsets[other + 1]].tolist()
            has_both = other != self._rows[row] and first in words and second in words
            if has_both and words.index(first) < words.index(second):
                return True
        return False


def _denied(candidates: Side, references: Side, lexicon: Lexicon) -> NDArray[np.float64]:
    """Return how much better the words that a candidate denies are supported by words that references state than by
    those that they deny, and the converse, float64[n_candidates]."""
    denied, theirs = _are_denied(candidates, lexicon), _are_denied(references, lexicon)
    largest = np.zeros(len(candidates.images))
    if not denied.any() and not theirs.any():
        return largest
    keys = references.keys(len(lexicon))
    sets = np.unique(keys[~theirs]), np.unique(keys[theirs])
    stated = ~denied & lexicon.is_content[candidates.ids]
    for tokens, opposite, same in ((denied, *sets), (stated, *sets[::-1])):
        side = candidates.only(tokens)
        differences = supports(side, opposite, lexicon) - supports(side, same, lexicon)
        np.maximum.at(largest, side.image_of_token, differences)
    return largest


def _are_denied(side: Side, lexicon: Lexicon) -> NDArray[np.bool_]:
    """Return which tokens are denied: the first word of content after a negation, or else the last before it."""
    denied = np.zeros(len(side.ids), bool)
    content = np.flatnonzero(lexicon.is_content[side.ids])
    captions = side.captions
    for place in np.flatnonzero(lexicon.is_negation[side.ids]).tolist():
        behind = np.searchsorted(content, place)
        for i in (behind, behind - 1):
            if 0 <= i < len(content) and captions[content[i]] == captions[place]:
                denied[content[i]] = True
                break
    return denied
