"""fastText's binary models: the vector of a word is the mean of its own row and those of its character n-grams.

Bojanowski et al. 2017; the file format and the hash of n-grams are those of fastText 0.9 (version 12 of the file).
"""

from __future__ import annotations

import math
import mmap
import shutil
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from captious.files.decompression import is_unpacked
from captious.native import mean_vectors, subword_buckets, threads
from captious.phrases import counted
from captious.resources.vectors.vector_index import Block, Subwords
from captious.resources.vectors.vector_source import PIECE, WIDEST, VectorFileError, VectorReader, finite

#: The first bytes of such a file.
MAGIC = struct.pack("<i", 793712314)

_VERSION = 12
_SETTINGS = struct.Struct("<13id")  # version, 12 numbers, some of which matter here, and a threshold
_COUNTS = struct.Struct("<3iqq")  # words and labels, words, labels, tokens, pruned n-grams
_COUNT_AND_TYPE = 9  # bytes after each word
_SHAPE = struct.Struct("<?qq")  # whether quantised; rows, columns
_END_OF_SENTENCE = b"</s>"  # the only word without n-grams
_MOST_ROWS = (1 << 31) - 1
_WORDS_AT_ONCE = 4096


def source(file: IO[bytes], with_subwords: bool, scratch: Path) -> VectorReader:
    """Return the words of a model with their vectors, and the rows of its n-grams if requested.

    Raises:
        ResourceError: the file is truncated, or another kind of model.
    """
    content = _mapped(file, scratch)
    content.seek(len(MAGIC))
    version, width, *settings = _unpack(_SETTINGS, content, "its settings")
    buckets, shortest, longest = settings[7:10]
    if version != _VERSION:
        raise VectorFileError(f"fastText format version {version}, not {_VERSION}")
    _, n_words, n_labels, _, n_pruned = _unpack(_COUNTS, content, "its word counts")
    if n_words < 1 or n_labels < 0 or buckets < 0:
        counts = f"{counted(n_words, 'word')}, {counted(n_labels, 'label')} and {buckets:,} n-grams"
        raise VectorFileError(f"the header says {counts}", "download the file again")
    words = _words(content, n_words + n_labels)[:n_words]
    if n_pruned > 0:
        raise VectorFileError("a quantised model", "give the .bin model it was made from")
    quantised, rows, columns = _unpack(_SHAPE, content, "the size of its matrix")
    if quantised:
        raise VectorFileError("a quantised model", "give the .bin model it was made from")
    if longest <= 0 or shortest <= 0:
        buckets = 0
    if columns != width or not n_words + buckets <= rows <= _MOST_ROWS:
        raise VectorFileError(
            f"a matrix of {rows:,} x {columns:,} for {counted(n_words, 'word')} and {buckets:,} n-grams of {width:,} "
            "numbers"
        )
    if not 0 < width <= WIDEST:
        raise VectorFileError(f"vectors of {width:,} numbers")
    subwords = Subwords(buckets, shortest, longest) if buckets else None
    blocks = _blocks(words, _matrix(content, rows, columns), subwords, with_subwords)
    return VectorReader(width, blocks, subwords=subwords if with_subwords else None)


def _mapped(file: IO[bytes], scratch: Path) -> mmap.mmap:
    """Map a file into memory, after decompressing it to disk if necessary."""
    if not is_unpacked(file):
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with tempfile.TemporaryFile(dir=scratch, prefix=".captious-") as copy:
        shutil.copyfileobj(file, copy, PIECE)
        copy.flush()
        return mmap.mmap(copy.fileno(), 0, access=mmap.ACCESS_READ)


def _unpack(form: struct.Struct, content: mmap.mmap, what: str) -> tuple[Any, ...]:
    data = content.read(form.size)
    if len(data) < form.size:
        raise VectorFileError(f"the file ends before {what}", "download the file again")
    return form.unpack(data)


def _words(content: mmap.mmap, n: int) -> list[bytes]:
    words = []
    for number in range(1, n + 1):
        start = content.tell()
        end = content.find(b"\0", start)
        if end < 0 or end + 1 + _COUNT_AND_TYPE > len(content):
            raise VectorFileError("the file is truncated", "download the file again", place=f"word {number:,}")
        words.append(content[start:end])
        content.seek(end + 1 + _COUNT_AND_TYPE)
    return words


def _matrix(content: mmap.mmap, rows: int, columns: int) -> NDArray[np.float32]:
    """Return the input matrix, which is followed by another one."""
    start = content.tell()
    end = start + rows * columns * 4
    shape = content[end : end + _SHAPE.size]
    quantised, *of_next = _SHAPE.unpack(shape) if len(shape) == _SHAPE.size else (False, 0, 0)
    if len(shape) < _SHAPE.size or (not quantised and len(content) < end + _SHAPE.size + math.prod(of_next) * 4):
        raise VectorFileError("the file is truncated inside its matrices", "download the file again")
    return np.frombuffer(content, "<f4", rows * columns, start).reshape(rows, columns)


def _blocks(
    words: list[bytes], matrix: NDArray[np.float32], subwords: Subwords | None, with_subwords: bool
) -> Iterator[Block]:
    for start in range(0, len(words), _WORDS_AT_ONCE):
        block_words = words[start : start + _WORDS_AT_ONCE]
        rows_of_words = np.arange(start, start + len(block_words), dtype=np.int32)
        if subwords is None:
            yield Block.of(block_words, finite(matrix[rows_of_words], start))
            continue
        block = Block.of(block_words, np.empty((0, 0), np.float32))
        pieces = subword_buckets(block.text, block.ends, subwords.shortest, subwords.longest, subwords.buckets)
        buckets, offsets = pieces
        if _END_OF_SENTENCE in block_words:
            buckets, offsets = _remove_word(block_words.index(_END_OF_SENTENCE), buckets, offsets)
        rows = np.insert(buckets + np.int32(len(words)), offsets[:-1], rows_of_words)
        at = offsets + np.arange(len(offsets))
        distinct, local = np.unique(rows, return_inverse=True)
        vectors = mean_vectors(np.ascontiguousarray(matrix[distinct]), local.astype(np.int32), at, threads())
        yield Block(block.text, block.ends, finite(vectors, start))
    if with_subwords and subwords is not None:
        no_words = Block.of([], np.empty((0, 0), np.float32))
        for start in range(len(words), len(words) + subwords.buckets, _WORDS_AT_ONCE):
            stop = min(start + _WORDS_AT_ONCE, len(words) + subwords.buckets)
            yield Block(no_words.text, no_words.ends, finite(matrix[start:stop], start - len(words), "n-gram"))


def _remove_word(
    word: int, buckets: NDArray[np.int32], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Remove one word's n-grams from those of words."""
    start, end = int(offsets[word]), int(offsets[word + 1])
    buckets = np.delete(buckets, np.s_[start:end])
    return buckets, np.where(np.arange(len(offsets)) > word, offsets - (end - start), offsets)
