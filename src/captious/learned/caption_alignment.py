"""How the words of a caption and those of its references support each other, and where they contradict each other.

Pure functions over arrays of words. A word is supported by the word of the other side with the closest vector, fully if
it occurs there. A caption contradicts its references where the same two words enclose different ones, as in "a red car"
and "a blue car", if it is otherwise a copy of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.text.tokens import ranges

_PAIRS_AT_ONCE = 1 << 12  # whose vectors fit into the cache
_LEAST_IMPORTANT = 0.35  # words below are only supported by themselves
_COPY = 0.7  # share of words in a place that references have, above which a caption is a copy with changes


@dataclass(frozen=True, eq=False)
class Lexicon:
    """What is needed of words.

    Args:
        directions: vectors of length 1, float32[n_words, width].
        importance: float32[n_words], 0 or more; 1 for a typical word.
        is_known: bool[n_words], whether a word has a vector of its own, so that its meaning is known.
    """

    directions: NDArray[np.float32]
    importance: NDArray[np.float32]
    is_known: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.importance)


@dataclass(frozen=True, eq=False)
class Side:
    """Captions, one for each image or several, as words.

    Args:
        ids: int[n_tokens], numbers of words.
        offsets: int64[n_captions + 1], the words of each caption.
        images: int64[n_captions], the image of each caption, ascending from 0.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    images: NDArray[np.int64]

    @property
    def image_of_token(self) -> NDArray[np.int64]:
        """int64[n_tokens]"""
        return np.repeat(self.images, np.diff(self.offsets))

    def distinct(self, n_words: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The distinct words of each image as ``image * n_words + word``, ascending, and their counts."""
        return np.unique(self.image_of_token * n_words + self.ids, return_counts=True)


def supports(
    keys: NDArray[np.int64], helpers: NDArray[np.int64], lexicon: Lexicon
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """How well words of one side are supported by those of the other.

    Args:
        keys: words of images, as ``Side.distinct`` gives them.
        helpers: words of the other side that support them.
        lexicon: what is known of words.

    Returns:
        The support of each word, 0 to 1, and the word that supports it best, -1 for none.
    """
    n_words = len(lexicon)
    images, words = np.divmod(keys, n_words)
    if not len(helpers):
        return np.zeros(len(keys)), np.full(len(keys), -1)
    place = np.minimum(np.searchsorted(helpers, keys), len(helpers) - 1)
    is_same = helpers[place] == keys
    support, best = is_same.astype(np.float64), np.where(is_same, words, -1)
    helpers = helpers[lexicon.importance[helpers % n_words] >= _LEAST_IMPORTANT]
    starts = np.searchsorted(helpers, np.arange(int(images[-1]) + 2 if len(images) else 1) * n_words)
    helping = helpers % n_words
    rows = np.flatnonzero(~is_same & (lexicon.importance[words] >= _LEAST_IMPORTANT))
    n_helpers = np.diff(starts)[images[rows]]
    rows, n_helpers = rows[n_helpers > 0], n_helpers[n_helpers > 0]
    ends = np.cumsum(n_helpers)
    first = 0
    while first < len(rows):
        last = max(first + 1, int(np.searchsorted(ends, (ends[first - 1] if first else 0) + _PAIRS_AT_ONCE)))
        some, n = rows[first:last], n_helpers[first:last]
        begins = np.cumsum(n) - n
        theirs = helping[ranges(starts[images[some]], n)]
        cosines = np.einsum(
            "ij,ij->i", lexicon.directions[np.repeat(words[some], n)], lexicon.directions[theirs]
        ).astype(np.float64)
        closest = np.maximum.reduceat(cosines, begins)
        at = np.flatnonzero(cosines == np.repeat(closest, n))
        best[np.repeat(some, n)[at[::-1]]] = theirs[at[::-1]]
        support[some] = np.maximum(closest, 0)
        first = last
    best[support == 0] = -1
    return support, best


@dataclass(frozen=True, eq=False)
class Places:
    """Words of candidates in their places, which the words before and behind make.

    Args:
        is_shared: bool[n_tokens], whether a reference has a word in this place.
        n_shared: int64[n_references], for each reference the number of words of its candidate in places of its own.
        difference: float64[n_tokens], how much the word differs from all words that references have there, weighted by
            its importance: 0 if it is one of them, the place is not shared, or it is not known whether they differ.
        other: int64[n_tokens], the word that it differs from least, -1 without a difference.
    """

    is_shared: NDArray[np.bool_]
    n_shared: NDArray[np.int64]
    difference: NDArray[np.float64]
    other: NDArray[np.int64]


def places(candidates: Side, references: Side, lexicon: Lexicon) -> Places:
    """What references have in the places of the words of the candidates."""
    n_words, n = len(lexicon), len(candidates.ids)
    of_reference = np.zeros(len(references.images), np.int64)
    found = Places(np.zeros(n, np.bool_), of_reference, np.zeros(n), np.full(n, -1))
    theirs = _marks(references, n_words)
    if not len(theirs) or not n:
        return found
    by_place = np.argsort(theirs, kind="stable")
    theirs, mine = theirs[by_place], _marks(candidates, n_words)
    first = np.searchsorted(theirs, mine)
    found.is_shared[:] = theirs[np.minimum(first, len(theirs) - 1)] == mine
    at = np.flatnonzero(found.is_shared)
    if not len(at):
        return found
    counts = np.searchsorted(theirs, mine[at], side="right") - first[at]
    begins = np.cumsum(counts) - counts
    rows = by_place[ranges(first[at], counts)]
    enclosed = references.ids[rows]
    captions = np.repeat(np.arange(len(of_reference)), np.diff(references.offsets))[rows]
    # A reference may have a place more than once, in rows that follow each other.
    is_first = np.diff(captions, prepend=-1) != 0
    is_first[begins] = True
    of_reference += np.bincount(captions[is_first], minlength=len(of_reference))
    ours = np.repeat(candidates.ids[at], counts)
    cosines = np.ones(len(ours))
    differ = (ours != enclosed) & lexicon.is_known[ours] & lexicon.is_known[enclosed]
    cosines[differ] = np.einsum("ij,ij->i", lexicon.directions[ours[differ]], lexicon.directions[enclosed[differ]])
    closest = np.maximum.reduceat(cosines, begins)
    found.difference[at] = lexicon.importance[candidates.ids[at]] * np.maximum(1 - closest, 0)
    best = np.flatnonzero(differ & (cosines == np.repeat(closest, counts)))[::-1]
    found.other[np.repeat(at, counts)[best]] = enclosed[best]
    found.other[found.difference == 0] = -1
    return found


def contradiction(candidates: Side, references: Side, found: Places, n_images: int) -> NDArray[np.float64]:
    """The largest difference of each candidate, float64[n_images], if it is otherwise a copy of a reference.

    It counts fully if all words of both are in shared places, and not at all if seven tenths of them are. Words beside
    one that differs are not in a shared place for that reason, and do not count.
    """
    images, n = candidates.image_of_token, len(candidates.ids)
    differs = found.difference > 0
    beside = np.zeros(n, np.bool_)
    same = images[1:] == images[:-1]
    beside[1:] |= differs[:-1] & same
    beside[:-1] |= differs[1:] & same
    excused = np.bincount(images, beside & ~found.is_shared, n_images)[references.images]
    lengths = np.bincount(images, minlength=n_images)[references.images]
    longer = np.maximum(lengths, np.diff(references.offsets)) - excused
    share = np.zeros(n_images)
    np.maximum.at(share, references.images, found.n_shared / np.maximum(longer, 1))
    largest = np.zeros(n_images)
    np.maximum.at(largest, images, found.difference)
    return largest * np.clip((share - _COPY) / (1 - _COPY), 0, 1)


def _marks(side: Side, n_words: int) -> NDArray[np.uint64]:
    """A number for each token, the same for tokens of an image that the same two words enclose."""
    before, after = np.empty(len(side.ids), np.uint64), np.empty(len(side.ids), np.uint64)
    before[1:], after[:-1] = side.ids[:-1], side.ids[1:]
    filled = np.diff(side.offsets) > 0
    before[side.offsets[:-1][filled]] = n_words
    after[side.offsets[1:][filled] - 1] = n_words
    # Multipliers of splitmix64. Equal numbers of different places are so unlikely that they do not matter.
    mixed = before * np.uint64(0x9E3779B97F4A7C15) + after * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    images = side.image_of_token.astype(np.uint64) * np.uint64(0x94D049BB133111EB)
    marks: NDArray[np.uint64] = (mixed + images) * np.uint64(0x9E3779B97F4A7C15)
    return marks
