"""Common parts of readers of word vectors: a stream of words and rows, positions, errors, decompression."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import ResourceError
from captious.files.decompression import RAISE_LIMIT, UnpackedSizeError, is_gzip, unpacked
from captious.phrases import counted
from captious.resources.vectors.vector_index import Block, Subwords

#: The formats that can be read, in human-readable form.
FORMS = (
    "GloVe text, word2vec text or binary, fastText .vec or .bin, gensim KeyedVectors, .npz with words and vectors, "
    "or .npy with --vocabulary; plain or .gz"
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
        return ResourceError(f"these word vectors cannot be read: {self.reason}", where=where, help=self.help)


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
