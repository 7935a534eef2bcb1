"""Published files of word vectors, read in blocks: text, word2vec, numpy, fastText and gensim; and compiled vectors.

Problems with a file raise a ``ResourceError`` that names the line or the word.
"""

from __future__ import annotations

import codecs
import gzip
import math
import mmap
import re
import shutil
import struct
import tempfile
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from captious.data.rows import is_unicode
from captious.errors import ResourceError, option
from captious.files import RAISE_LIMIT, UnpackedSizeError, is_gzip, is_unpacked, unpacked
from captious.native import find_words, mean_vectors, parse_vector_lines, sorted_words, subword_buckets, threads
from captious.resources import npy
from captious.resources.cache import Arrays
from captious.resources.npy import map_npy
from captious.resources.pickles import PickledObject, PickleError, read_pickle
from captious.words import counted

# Compiled word vectors: words sorted for lookup, and their rows, which are read and checked on demand.
#
# The rows are a separate file, float32 row after row, mapped into memory; everything about words is in a file of
# arrays.


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


# Common parts of readers of word vectors: a stream of words and rows, positions, errors, decompression.

#: The formats that can be read, in human-readable form.
FORMS = (
    "GloVe text, word2vec text or binary, fastText .vec or .bin, gensim KeyedVectors, .npz with words and vectors, "
    f"or .npy with {option('vocabulary', 'FILE')}; plain or .gz"
)

#: Bytes that are read at a time.
PIECE = 1 << 22

#: The most numbers of a vector.
WIDEST = 1 << 16


class VectorReader:
    """Words and vectors in the order of a file.

    Args:
        width: length of a vector.
        blocks: all rows; may raise ResourceError.
        unit: unit of positions in the file: "line" or "word".
        first: the number of the first.
        subwords: description of the rows after the words, if there are any.
    """

    def __init__(
        self,
        width: int,
        blocks: Iterator[Block],
        *,
        unit: str = "word",
        first: int = 1,
        subwords: Subwords | None = None,
    ) -> None:
        if not 0 < width <= WIDEST:
            raise VectorFileError(f"vectors of {width:,} numbers", place="line 1")
        self.width, self.blocks, self.subwords = width, blocks, subwords
        self._unit, self._first = unit, first

    def place(self, row: int) -> str:
        """Return the position of the word of a row, in human-readable form."""
        return f"{self._unit} {self._first + row:,}"


class VectorFileError(Exception):
    """An unusable file. ``opened`` converts it to a ``ResourceError`` with the name of the file.

    Args:
        reason: the problem.
        help: the remedy.
        place: the position in the file.
    """

    def __init__(self, reason: str, help: str = "", *, place: str = "") -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place
        self.help = help or f"supported formats: {FORMS}"

    def as_resource_error(self, path: Path) -> ResourceError:
        """Return the error for the user."""
        where = f"{path}{', ' if self.place else ''}{self.place}"
        return ResourceError(f"these word vectors cannot be read: {self.reason}", where=where, hint=self.help)


@contextmanager
def opened(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open a file, decompressed if it is a gzip file, and return it with the file that is actually read, whose position
    shows the progress.

    Raises:
        ResourceError: it cannot be read, or the compressed data are damaged, truncated or larger than the limit.
    """
    try:
        with open(path, "rb") as raw:
            packed = is_gzip(raw.read(2))
            raw.seek(0)
            if packed:
                with unpacked(raw) as file:
                    yield file, raw
            else:
                yield raw, raw
    except VectorFileError as error:
        raise error.as_resource_error(path) from error
    except EOFError as error:
        problem = VectorFileError("the compressed file is truncated", "download the file again")
        raise problem.as_resource_error(path) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        problem = VectorFileError(f"the compressed file is damaged ({error})", "download the file again")
        raise problem.as_resource_error(path) from error
    except UnpackedSizeError as error:
        raise VectorFileError(str(error), RAISE_LIMIT).as_resource_error(path) from error
    except OSError as error:
        raise VectorFileError(error.strerror or str(error), "give a readable file").as_resource_error(path) from error


def encoded(words: Sequence[str]) -> list[bytes]:
    """Return words in UTF-8.

    Raises:
        ResourceError: one has a lone surrogate, half of a character.
    """
    try:
        return [word.encode() for word in words]
    except UnicodeEncodeError as error:
        number = next(number for number, word in enumerate(words, 1) if word == error.object)
        raise VectorFileError(
            "it contains a lone surrogate (half of a character)", "remove that word", place=f"word {number:,}"
        ) from error


def from_arrays(words: list[bytes], vectors: NDArray[Any]) -> VectorReader:
    """Return words and the rows of a matrix as a reader."""
    if vectors.ndim != 2 or not (np.issubdtype(vectors.dtype, np.floating) or vectors.dtype == np.int8):
        raise VectorFileError(f"an array of {vectors.dtype} with {vectors.ndim} dimensions", "give float32[words, d]")
    if len(words) != len(vectors):
        raise VectorFileError(
            f"{counted(len(words), 'word')} for {counted(len(vectors), 'vector')}", "give one word for each row"
        )
    if not all(words):
        raise VectorFileError("the word is empty", place=f"word {words.index(b'') + 1:,}")

    def blocks() -> Iterator[Block]:
        step = max(1, PIECE // (4 * vectors.shape[1]))
        for start in range(0, len(words), step):
            yield Block.of(words[start : start + step], finite(vectors[start : start + step], start))

    return VectorReader(int(vectors.shape[1]), blocks())


def finite(vectors: NDArray[Any], first: int, what: str = "word") -> NDArray[np.float32]:
    """Return vectors in single precision; the first is word ``first`` of the file.

    Raises:
        ResourceError: a number that is not finite.
    """
    with np.errstate(over="ignore"):
        single: NDArray[np.float32] = np.asarray(vectors, np.float32)
    bad = np.flatnonzero(~np.isfinite(single).all(axis=1))
    if bad.size:
        raise VectorFileError("a number that is not finite", place=f"{what} {first + int(bad[0]) + 1:,}")
    return single


# fastText's binary models: the vector of a word is the mean of its own row and those of its character n-grams.
#
# Bojanowski et al. 2017; the file format and the hash of n-grams are those of fastText 0.9 (version 12 of the file).

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


# KeyedVectors saved by gensim: a pickle, often accompanied by a .npy file. gensim is not needed.
#
# A pickle can run any code, so it is read as data: see ``captious.resources.pickles``.


def read(path: Path, file: IO[bytes]) -> tuple[list[bytes], NDArray[Any]]:
    """Read the words and their vectors.

    Raises:
        ResourceError: not such a file, or a file that belongs to it is missing.
    """
    data = file.read() if is_unpacked(file) else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        saved = read_pickle(data)
    except PickleError as error:
        reason = f"not gensim KeyedVectors ({error})"
        raise VectorFileError(reason, "if gensim saved a whole model, save only model.wv") from error
    attributes = saved.attributes if isinstance(saved, PickledObject) else {}
    words = attributes.get("index_to_key", attributes.get("index2word"))
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise VectorFileError("not gensim KeyedVectors: it contains no words", "save model.wv, not the model")
    if sum(map(len, words)) > len(data):
        raise VectorFileError("not gensim KeyedVectors: it contains duplicate words")
    if "bucket" in attributes:
        raise VectorFileError(
            "gensim FastText vectors, which are saved in several files", "save them with save_facebook_model"
        )
    vectors = attributes.get("vectors", attributes.get("syn0"))
    if vectors is None:
        second = path.with_name(f"{path.name}.vectors.npy")
        try:
            vectors = map_npy(second)
        except (OSError, ValueError) as error:
            raise VectorFileError(
                f"its vectors cannot be read from {second.name}", "keep both gensim files in the same folder"
            ) from error
    if not isinstance(vectors, np.ndarray):
        raise VectorFileError("not gensim KeyedVectors: its vectors are not numbers", "save model.wv, not the model")
    return encoded(words), vectors


# Files of word vectors in any format: text, word2vec's binary format, numpy's formats.

_LONGEST_LINE = 1 << 22
_LONGEST_WORD = 1 << 12
_HEADER = re.compile(rb"(\d{1,12})[ \t]+(\d{1,12})[ \t\r]*")
_NUMBERS = re.compile(rb"[0-9+\-.eE \t\r\n]*")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+|nan|inf(?:inity)?)(?:e[+-]?[0-9]+)?", re.IGNORECASE)
_SHOWN = 40


@contextmanager
def source_of(
    path: Path, vocabulary: Path | None, subwords: bool, scratch: Path
) -> Iterator[tuple[VectorReader, IO[bytes]]]:
    """Return the words and vectors of a file, and the file whose position shows the progress.

    Args:
        path: the file, in one of ``FORMS``.
        vocabulary: the words of a .npy file, one on a line.
        subwords: also read the subwords from which fastText composes vectors of unknown words.
        scratch: a folder for temporary files.

    Raises:
        ResourceError: a problem, with the line or the word.
    """
    with opened(path) as (file, raw):
        start = file.read(1 << 16)
        file.seek(0)
        source = _source(path, file, start, vocabulary, subwords, scratch)
        if subwords and source.subwords is None:
            raise VectorFileError("it contains no subwords", f"leave {option('subwords')} out, or give fastText's .bin")
        yield source, raw


def _source(
    path: Path, file: IO[bytes], start: bytes, vocabulary: Path | None, subwords: bool, scratch: Path
) -> VectorReader:
    if start.startswith(npy.MAGIC):
        if vocabulary is None:
            raise VectorFileError(
                "the words of its rows are unknown", f"give the file of words with {option('vocabulary', 'FILE')}"
            )
        words = _lines(vocabulary)
        return from_arrays(words, _load(path, file))
    if vocabulary is not None:
        raise VectorFileError("the file contains its own words", f"leave {option('vocabulary', 'FILE')} out")
    if start.startswith(MAGIC):
        return source(file, subwords, scratch)
    if start.startswith(b"PK"):
        return _read_npz(file)
    if start.startswith(b"\x80"):
        return from_arrays(*read(path, file))
    begin = len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
    line, newline, content = start[begin:].partition(b"\n")
    header = _HEADER.fullmatch(line)
    if header is None:
        file.seek(begin)
        if not newline and len(start) == 1 << 16:
            line = file.readline(_LONGEST_LINE)
            file.seek(begin)
        width = _width(line)
        if width < 1:
            raise VectorFileError("expected a word followed by its numbers", place="line 1")
        return VectorReader(width, _text_blocks(file, width), unit="line")
    n_words, width = int(header[1]), int(header[2])
    file.seek(begin + len(line) + 1)
    if content and not _is_text(content, width):
        return VectorReader(width, _binary_blocks(file, n_words, width))
    blocks = _text_blocks(file, width, first=2, announced=n_words)
    return VectorReader(width, blocks, unit="line", first=2)


def _width(line: bytes) -> int:
    """Return the count of numbers at the end of a line: all after its first field, or after the last field that is not
    a number.
    """
    fields = line.split()
    numbers = next((i for i, field in enumerate(reversed(fields)) if not _NUMBER.fullmatch(field)), len(fields))
    return min(numbers, len(fields) - 1)


def _is_text(rows: bytes, width: int) -> bool:
    """Return whether the first row is a word and numbers written as text, not the bytes of numbers."""
    row = rows.partition(b"\n")[0]
    if len(row) < len(rows):  # a whole row: as text it ends in its numbers, or has numbers in all places but one
        fields = row.split()
        n_numbers = sum(_NUMBER.fullmatch(field) is not None for field in fields[-width:])
        return n_numbers >= max(1, min(width, len(fields) - 1) // 2)
    return _NUMBERS.fullmatch(rows[rows.find(b" ") + 1 :][:64]) is not None


# ---- text


def _text_blocks(file: IO[bytes], width: int, *, first: int = 1, announced: int | None = None) -> Iterator[Block]:
    line = first
    remainder = b""
    while True:
        piece = file.read(PIECE)
        lines, newline, remainder = (remainder + piece).rpartition(b"\n") if piece else (remainder, b"", b"")
        if len(remainder) > _LONGEST_LINE:
            raise VectorFileError("a line that is too long", place=f"line {line:,}")
        text, ends, vectors, fault, n_numbers, field = parse_vector_lines(lines + newline, width)
        line += len(ends)
        if fault:
            raise VectorFileError(_fault(fault, n_numbers, field, width, announced is not None), place=f"line {line:,}")
        if len(ends):
            yield Block(text, ends, vectors)
        if not piece:
            break
    if announced is not None and line - first != announced:
        raise VectorFileError(
            f"the header says {counted(announced, 'word')}, but there are {line - first:,}",
            "download the file again, or fix its header",
            place="line 1",
        )


def _fault(fault: str, n_numbers: int, field: bytes, width: int, header: bool) -> str:
    text = field[:_SHOWN].decode("utf-8", "replace")
    expected = f"where {'the header' if header else 'line 1'} has {width:,}"
    return {
        "empty": "an empty line",
        "no word": "the word before the numbers is missing",
        "wrong count": f"{n_numbers:,} number{'' if n_numbers == 1 else 's'}, {expected}",
        "no number": f"{text!r} in place of a number",
        "not finite": f"{text!r}, which is not finite",
    }[fault]


# ---- word2vec's binary form


def _binary_blocks(file: IO[bytes], n_words: int, width: int) -> Iterator[Block]:
    size = 4 * width
    buffer, at, row = b"", 0, 0
    words: list[bytes] = []
    numbers: list[bytes] = []
    while row < n_words:
        end = buffer.find(b" ", at)
        if end < 0 or end + 1 + size > len(buffer):
            if words:
                yield _binary_block(words, numbers, width, row)
                words, numbers = [], []
            piece = file.read(PIECE + size)
            buffer, at = buffer[at:] + piece, 0
            if not piece or (len(buffer) > _LONGEST_WORD and buffer.find(b" ", 0, _LONGEST_WORD) < 0):
                reason = "the file is truncated" if not piece else "a word is missing"
                problem = f"{reason}; the header says {counted(n_words, 'word')} of {width:,} numbers"
                raise VectorFileError(problem, "download the file again", place=f"word {row + 1:,}")
            continue
        word = buffer[at:end].lstrip(b"\n")
        if not word:
            raise VectorFileError("the word is empty", place=f"word {row + 1:,}")
        words.append(word)
        numbers.append(buffer[end + 1 : end + 1 + size])
        at = end + 1 + size
        row += 1
    if words:
        yield _binary_block(words, numbers, width, row)
    if (buffer[at:] + file.read(1 << 10)).strip():
        raise VectorFileError(
            f"the header says {counted(n_words, 'word')}, but there are more", "download the file again", place="line 1"
        )


def _binary_block(words: list[bytes], numbers: list[bytes], width: int, end: int) -> Block:
    vectors = np.frombuffer(b"".join(numbers), "<f4").reshape(-1, width)
    return Block.of(words, finite(vectors, end - len(words)))


# ---- numpy


def _read_npz(file: IO[bytes]) -> VectorReader:
    try:
        arrays = npy.read_npz(file, ("words", "vectors"))
    except ValueError as error:
        raise VectorFileError(f"not a readable .npz file ({error})") from error
    if len(arrays) < 2:
        present = ", ".join(arrays) or "neither"
        raise VectorFileError(f"the file must contain both words and vectors; found: {present}", "save both")
    words = arrays["words"]
    if words.ndim != 1 or words.dtype.kind not in "US":
        raise VectorFileError("its words are not an array of strings", "save words as an array of strings")
    try:
        texts = words.tolist()
    except (SystemError, ValueError) as error:  # numpy raises these for numbers that are not characters
        raise VectorFileError("its words are not valid text") from error
    return from_arrays(texts if words.dtype.kind == "S" else encoded(texts), arrays["vectors"])


def _load(path: Path, file: IO[bytes]) -> NDArray[Any]:
    try:
        return npy.read_npy(file) if is_unpacked(file) else npy.map_npy(path)
    except ValueError as error:
        raise VectorFileError(f"not a readable .npy file ({error})") from error


def _lines(path: Path) -> list[bytes]:
    with opened(path) as (file, _):
        return file.read().removesuffix(b"\n").replace(b"\r\n", b"\n").split(b"\n")
