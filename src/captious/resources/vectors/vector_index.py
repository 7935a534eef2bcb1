"""Compiled word vectors: words sorted for lookup, and their rows, which are read and checked on demand.

The rows are a separate file, float32 row after row, mapped into memory; everything about words is in a file of arrays.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from captious.data.reading.source import is_unicode
from captious.native import find_words, mean_vectors, sorted_words, subword_buckets, threads
from captious.resources.arrays import Arrays


@dataclass(frozen=True)
class Subwords:
    """Character n-grams from which fastText composes vectors of unknown words; their rows follow the words.

    Args:
        buckets: number of their rows.
        shortest, longest: their lengths in characters.
    """

    buckets: int
    shortest: int
    longest: int


@dataclass(frozen=True, eq=False)
class Block:
    """A block of words and their vectors; without words, rows of subwords.

    Args:
        text: uint8, UTF-8 of the words, concatenated.
        ends: int64[n], where each word ends.
        vectors: float32[n, width].
    """

    text: NDArray[np.uint8]
    ends: NDArray[np.int64]
    vectors: NDArray[np.float32]

    @classmethod
    def of(cls, words: Sequence[bytes], vectors: NDArray[np.float32]) -> Block:
        """Create a block from words."""
        ends = np.cumsum([len(word) for word in words], dtype=np.int64)
        return cls(np.frombuffer(b"".join(words), np.uint8), ends, vectors)


class DuplicateWordError(Exception):
    """A duplicate word: the rows of both, and the word."""

    def __init__(self, first: int, second: int, word: str) -> None:
        super().__init__(word)
        self.first, self.second, self.word = first, second, word


class VectorIndex:
    """Words and vectors, ready for lookup.

    Args:
        arrays: the result of ``index_of``.
        rows: float32[n_rows, width]; only requested rows are accessed.
    """

    def __init__(self, arrays: Arrays, rows: NDArray[np.float32]) -> None:
        self._arrays = arrays
        self._rows = rows
        buckets, shortest, longest = arrays["subwords"].tolist()
        self.subwords = Subwords(buckets, shortest, longest) if buckets else None

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self._arrays["rows"])

    @property
    def width(self) -> int:
        """Length of a vector."""
        return int(self._rows.shape[1])

    def look_up(self, words: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Return which words have a vector, bool[n], and the vectors, float32[n, width]; zeros for words without.

        Raises:
            ValueError: a row differs from what was written.
        """
        # A word with half of a character has no vector, like the empty word.
        words = [word if word.isascii() or is_unicode(word) else "" for word in words]
        places = find_words(self._arrays["text"], self._arrays["ends"], tuple(words))
        has_vector = places >= 0
        vectors = np.zeros((len(words), self.width), np.float32)
        vectors[has_vector] = self._read(self._arrays["rows"][places[has_vector]])
        if self.subwords is not None and not has_vector.all():
            missing = np.flatnonzero(~has_vector)
            has_pieces, means = self._made_of_pieces([words[i] for i in missing.tolist()], self.subwords)
            has_vector[missing], vectors[missing] = has_pieces, means
        return has_vector, vectors

    def _made_of_pieces(
        self, words: Sequence[str], subwords: Subwords
    ) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Return means of the vectors of character n-grams, and for which words there are any."""
        block = Block.of([word.encode() for word in words], np.empty((0, 0), np.float32))
        n_grams = subword_buckets(block.text, block.ends, subwords.shortest, subwords.longest, subwords.buckets)
        buckets, offsets = n_grams
        distinct, pieces = np.unique(buckets, return_inverse=True)
        first = len(self._rows) - subwords.buckets
        vectors = self._read(first + distinct.astype(np.int64))
        means = mean_vectors(vectors, pieces.astype(np.int32), offsets, threads())
        return np.diff(offsets) > 0, means.astype(np.float32)

    def _read(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = self._rows[rows]
        sums = self._arrays["sums"][rows].tolist()
        for vector, sum_, row in zip(vectors, sums, rows.tolist(), strict=True):
            if zlib.crc32(vector.data) != sum_:
                raise ValueError(f"vector {row + 1:,} differs from what was written")
        return vectors


def index_of(
    blocks: Iterable[Block],
    *,
    subwords: Subwords | None = None,
    keep_first: bool = False,
    out: IO[bytes] | None = None,
    tell: Callable[[], None] = lambda: None,
) -> Arrays:
    """Build the arrays that ``VectorIndex`` needs besides the rows.

    Args:
        blocks: all rows, words first.
        subwords: describes the last rows if they are n-grams.
        keep_first: use the first occurrence of a duplicate word, which is otherwise an error.
        out: file that the rows are written to.
        tell: called after every block.

    Raises:
        DuplicateWordError: a duplicate word.
    """
    text, lengths, sums = bytearray(), array("q"), array("L")
    for block in blocks:
        vectors = np.ascontiguousarray(block.vectors, "<f4")
        text += block.text.tobytes()
        lengths.extend(np.diff(block.ends, prepend=0).tolist())
        sums.extend(zlib.crc32(vector.data) for vector in vectors)
        if out is not None:
            out.write(vectors.data)
        tell()
    letters, ends = np.frombuffer(bytes(text), np.uint8), np.cumsum(np.array(lengths, np.int64))
    del text
    order = sorted_words(letters, ends)
    starts = ends - np.array(lengths, np.int64)
    repeats = _same_as_before(letters, starts[order], ends[order])
    if repeats.any():
        if not keep_first:
            raise _first_duplicate(letters, starts, ends, order, repeats)
        order = order[~repeats]
    sizes = (ends - starts)[order]
    sorted_ends = np.cumsum(sizes)
    places = np.repeat(starts[order] - (sorted_ends - sizes), sizes) + np.arange(sizes.sum())
    shape = (subwords.buckets, subwords.shortest, subwords.longest) if subwords is not None else (0, 0, 0)
    return {
        "text": letters[places],
        "ends": sorted_ends,
        "rows": order,
        "sums": np.array(sums, np.uint32),
        "subwords": np.array(shape, np.int64),
    }


def _same_as_before(
    letters: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return a mask of the sorted words that equal the previous one."""
    same = np.zeros(len(starts), bool)
    memory = letters.tobytes()
    alike = np.flatnonzero(np.diff(ends - starts) == 0) + 1
    for i in alike.tolist():
        same[i] = memory[starts[i] : ends[i]] == memory[starts[i - 1] : ends[i - 1]]
    return same


def _first_duplicate(
    letters: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    order: NDArray[np.int64],
    repeats: NDArray[np.bool_],
) -> DuplicateWordError:
    """Return the duplicate that comes first in the file."""
    second = int(order[repeats].min())
    place = int(np.flatnonzero(order == second)[0])
    while repeats[place]:
        place -= 1
    word = letters[starts[second] : ends[second]].tobytes().decode("utf-8", "replace")
    return DuplicateWordError(int(order[place]), second, word)
