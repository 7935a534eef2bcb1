"""fastText's binary models: the vector of a word is the mean of its own row and those of its character n-grams.

Bojanowski et al. 2017; the form of the file and the hash of n-grams are those of fastText 0.9 (version 12 of the file).
"""

from __future__ import annotations

import shutil
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from captious.native import mean_vectors, subword_buckets, threads
from captious.resources.vector_index import Block, Subwords
from captious.resources.vector_source import WIDEST, Source, VectorFileError, finite
from captious.unpacking import is_unpacked

__all__ = ["MAGIC", "source"]

#: How such a file begins.
MAGIC = struct.pack("<i", 793712314)

_VERSION = 12
_SETTINGS = struct.Struct("<13id")  # version, 12 numbers of which some matter here, and a threshold
_COUNTS = struct.Struct("<3iqq")  # words and labels, words, labels, tokens, pruned n-grams
_COUNT_AND_TYPE = 9  # bytes after each word
_SHAPE = struct.Struct("<?qq")  # whether quantised; rows, columns
_END_OF_SENTENCE = b"</s>"  # the only word without n-grams
_MOST_ROWS = (1 << 31) - 1
_PIECE = 1 << 22
_WORDS_AT_ONCE = 4096


def source(file: IO[bytes], with_subwords: bool, scratch: Path) -> Source:
    """Words of a model with their vectors, and the rows of its n-grams if they are wanted.

    Raises:
        ResourceError: the file is truncated, or another kind of model.
    """
    file.seek(len(MAGIC))
    version, width, *settings = _SETTINGS.unpack(_read(file, _SETTINGS.size, "its settings"))
    buckets, shortest, longest = settings[7:10]
    if version != _VERSION:
        raise VectorFileError(f"fastText format version {version}, not {_VERSION}")
    _, n_words, n_labels, _, n_pruned = _COUNTS.unpack(_read(file, _COUNTS.size, "its word counts"))
    if n_words < 1 or n_labels < 0 or buckets < 0:
        said = f"{n_words:,} words, {n_labels:,} labels and {buckets:,} n-grams"
        raise VectorFileError(f"the header says {said}", "download the file again")
    words = _words(file, n_words + n_labels)[:n_words]
    if n_pruned > 0:
        raise VectorFileError("a quantised model", "give the .bin model it was made from")
    quantised, rows, columns = _SHAPE.unpack(_read(file, _SHAPE.size, "the size of its matrix"))
    if quantised:
        raise VectorFileError("a quantised model", "give the .bin model it was made from")
    if longest <= 0 or shortest <= 0:
        buckets = 0
    if columns != width or not n_words + buckets <= rows <= _MOST_ROWS:
        raise VectorFileError(
            f"a matrix of {rows:,} x {columns:,} for {n_words:,} words and {buckets:,} n-grams of {width:,} numbers"
        )
    if not 0 < width <= WIDEST:
        raise VectorFileError(f"vectors of {width:,} numbers")
    subwords = Subwords(buckets, shortest, longest) if buckets else None
    matrix = _matrix(file, rows, columns, scratch)
    blocks = _blocks(words, matrix, subwords, with_subwords)
    return Source(width, blocks, subwords=subwords if with_subwords else None)


def _read(file: IO[bytes], size: int, what: str) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise VectorFileError(f"the file ends before {what}", "download the file again")
    return data


def _words(file: IO[bytes], n: int) -> list[bytes]:
    """Words and labels; afterwards the file is positioned after them."""
    start = file.tell()
    words: list[bytes] = []
    buffer, at, consumed = b"", 0, 0
    while len(words) < n:
        end = buffer.find(b"\0", at)
        if end < 0 or end + 1 + _COUNT_AND_TYPE > len(buffer):
            piece = file.read(_PIECE)
            if not piece:
                raise VectorFileError(
                    "the file is truncated", "download the file again", place=f"word {len(words) + 1:,}"
                )
            consumed += at
            buffer, at = buffer[at:] + piece, 0
            continue
        words.append(buffer[at:end])
        at = end + 1 + _COUNT_AND_TYPE
    file.seek(start + consumed + at)
    return words


def _matrix(file: IO[bytes], rows: int, columns: int, scratch: Path) -> NDArray[np.float32]:
    """The input matrix, mapped; copied first if it is compressed or not aligned."""
    start, size = file.tell(), rows * columns * 4
    plain = not is_unpacked(file) and start % 4 == 0
    on_disk, offset = (file, start) if plain else (_rest_on_disk(file, scratch), 0)
    try:
        if not _has_both_matrices(on_disk, offset + size):
            raise VectorFileError("the file is truncated inside its matrices", "download the file again")
        mapped: NDArray[np.float32] = np.memmap(on_disk, "<f4", "r", offset, (rows, columns))
    finally:
        if on_disk is not file:
            on_disk.close()  # the mapping remains valid
    return mapped


def _rest_on_disk(file: IO[bytes], folder: Path) -> IO[bytes]:
    """What is left of a file, in an unnamed file of a folder."""
    copy = tempfile.TemporaryFile(dir=folder, prefix=".captious-")  # noqa: SIM115
    shutil.copyfileobj(file, copy, _PIECE)
    copy.seek(0)
    return copy


def _has_both_matrices(file: IO[bytes], end: int) -> bool:
    """Whether the first matrix, which ends there, and the one after it are in the file."""
    size = file.seek(0, 2)
    file.seek(end)
    shape = file.read(_SHAPE.size)
    if len(shape) < _SHAPE.size:
        return False
    quantised, rows, columns = _SHAPE.unpack(shape)
    return bool(quantised) or size >= end + _SHAPE.size + rows * columns * 4


def _blocks(
    words: list[bytes], matrix: NDArray[np.float32], subwords: Subwords | None, with_subwords: bool
) -> Iterator[Block]:
    for start in range(0, len(words), _WORDS_AT_ONCE):
        some = words[start : start + _WORDS_AT_ONCE]
        own = np.arange(start, start + len(some), dtype=np.int32)
        if subwords is None:
            yield Block.of(some, finite(matrix[own], start))
            continue
        block = Block.of(some, np.empty((0, 0), np.float32))
        pieces = subword_buckets(block.text, block.ends, subwords.shortest, subwords.longest, subwords.buckets)
        buckets, offsets = pieces
        if _END_OF_SENTENCE in some:
            buckets, offsets = _without(some.index(_END_OF_SENTENCE), buckets, offsets)
        rows = np.insert(buckets + np.int32(len(words)), offsets[:-1], own)
        at = offsets + np.arange(len(offsets))
        used, local = np.unique(rows, return_inverse=True)
        vectors = mean_vectors(np.ascontiguousarray(matrix[used]), local.astype(np.int32), at, threads())
        yield Block(block.text, block.ends, finite(vectors, start))
    if with_subwords and subwords is not None:
        no_words = Block.of([], np.empty((0, 0), np.float32))
        for start in range(len(words), len(words) + subwords.buckets, _WORDS_AT_ONCE):
            stop = min(start + _WORDS_AT_ONCE, len(words) + subwords.buckets)
            yield Block(no_words.text, no_words.ends, finite(matrix[start:stop], start - len(words), "n-gram"))


def _without(
    word: int, buckets: NDArray[np.int32], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """N-grams of words except those of one word."""
    start, end = int(offsets[word]), int(offsets[word + 1])
    kept = np.delete(buckets, np.s_[start:end])
    return kept, np.where(np.arange(len(offsets)) > word, offsets - (end - start), offsets)
