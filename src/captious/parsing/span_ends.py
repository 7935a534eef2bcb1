"""Words that constituents of a sentence may begin and end with, so that parsing takes linear time.

Two linear classifiers use the three words before and after each word, and the most frequent tag of each of them. Their
predictions close more than half of the cells of a chart (Roark and Hollingshead 2008, "Classifying Chart Cells for
Quadratic Complexity Context-Free Inference"). Constituents of more than ``LONGEST`` words that touch neither end of the
sentence are excluded as well, so that the number of cells is linear in the number of words. ``training/grammar`` trains
the weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.resources.arrays import Arrays

__all__ = ["BEGINS", "ENDS", "LONGEST", "UNIT", "SpanEnds", "features"]

#: What a word has that constituents of several words may begin with, or end with.
BEGINS, ENDS = 1, 2
#: Words of the longest constituent that touches no end of its sentence.
LONGEST = 30
#: Unit of the integer weights, in logits.
UNIT = 1 / 32

_LEAST = -6.0  # logit of what is not ruled out
_AROUND = 3  # words before and after that are looked at
_BEFORE, _AFTER = 0, 1  # stand for the words and tags around a sentence
_FIRST = 2  # its own are numbered from here
_MIXER = np.uint64(0xFF51AFD7ED558CCD)  # an odd number with bits of all kinds (MurmurHash3)
#: Places of words and of tags, from the word that is judged.
_TEMPLATES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    *(((place,), ()) for place in (-2, -1, 0, 1, 2)),
    *((places, ()) for places in ((-1, 0), (0, 1), (-1, 1), (1, 2), (-2, -1, 0), (-1, 0, 1), (0, 1, 2))),
    *(((), tuple(range(*ends))) for ends in ((-1, 2), (-2, 2), (-1, 3), (-2, 3), (0, 4), (-3, 1), (-3, 3), (-2, 4))),
    *(((0,), places) for places in ((1, 2), (1, 2, 3), (-2, -1))),
    ((1,), (-1, 0)),
    ((-1,), (0, 1, 2)),
)


@dataclass(frozen=True, eq=False)
class SpanEnds:
    """The classifiers.

    Args:
        weights: int8[2**k, 2], weights of hashed features for whether constituents begin and end with a word.
        tags: uint8, by number of a word in the lexicon: its most frequent tag.
    """

    weights: NDArray[np.int8]
    tags: NDArray[np.uint8]

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> SpanEnds:
        """Restore the classifiers from ``arrays``."""
        return cls(arrays["span_weights"].view(np.int8).reshape(-1, 2), arrays["span_tags"])

    def arrays(self) -> Arrays:
        """Return both as one-dimensional arrays."""
        return {"span_weights": self.weights.reshape(-1).view(np.uint8), "span_tags": self.tags}

    def possible(self, words: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return for each word the sum of ``BEGINS`` and ``ENDS`` that are not ruled out.

        Args:
            words: int32, words of all sentences, as numbers in the lexicon.
            offsets: int64[n + 1], the boundaries of the n sentences.
        """
        logits = np.zeros((len(words), 2), np.int32)
        for numbers in features(words, self.tags, offsets, len(self.weights)):
            logits += self.weights[numbers]
        possible = logits > _LEAST / UNIT
        filled = offsets[:-1] < offsets[1:]
        possible[offsets[:-1][filled], 0] = True
        possible[offsets[1:][filled] - 1, 1] = True
        return (possible @ np.array([BEGINS, ENDS], np.uint8)).astype(np.uint8)


def features(
    words: NDArray[np.int32], tags: NDArray[np.uint8], offsets: NDArray[np.int64], n_features: int
) -> Iterator[NDArray[np.int64]]:
    """Return the hashed features of each word, one array int64[n_words] per template.

    Args:
        words, offsets: as for ``SpanEnds.possible``.
        tags: by number of a word.
        n_features: a power of two.
    """
    lengths = np.diff(offsets)
    places = np.arange(len(words)) + _AROUND * (2 * np.repeat(np.arange(len(lengths)), lengths) + 1)
    starts = offsets[:-1] + 2 * _AROUND * np.arange(len(lengths))
    padded = np.full((2, len(words) + 2 * _AROUND * len(lengths)), _AFTER, np.uint64)
    padded[:, (starts[:, None] + np.arange(_AROUND)).reshape(-1)] = _BEFORE
    padded[0, places] = words + _FIRST
    padded[1, places] = tags[words] + np.uint8(_FIRST)
    for number, template in enumerate(_TEMPLATES):
        hashes = np.full(len(words), number + 1, np.uint64)
        for values, around in zip(padded, template, strict=True):
            for place in around:
                hashes = (hashes ^ values[places + place]) * _MIXER
                hashes ^= hashes >> np.uint64(32)
        yield ((hashes >> np.uint64(7)) % np.uint64(n_features)).astype(np.int64)
