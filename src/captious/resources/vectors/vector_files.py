"""Published files of word vectors, read in blocks: text, word2vec's binary format, numpy's formats.

Problems with a file raise a ``ResourceError`` that names the line or the word.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from captious.files.decompression import is_unpacked
from captious.native import parse_vector_lines
from captious.phrases import counted
from captious.resources import npy_files
from captious.resources.vectors import fasttext, keyed_vectors
from captious.resources.vectors.vector_index import Block
from captious.resources.vectors.vector_source import (
    PIECE,
    VectorFileError,
    VectorReader,
    encoded,
    finite,
    from_arrays,
    opened,
)

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
            raise VectorFileError("it contains no subwords", "leave --subwords out, or give fastText's .bin")
        yield source, raw


def _source(
    path: Path, file: IO[bytes], start: bytes, vocabulary: Path | None, subwords: bool, scratch: Path
) -> VectorReader:
    if start.startswith(npy_files.MAGIC):
        if vocabulary is None:
            raise VectorFileError("the words of its rows are unknown", "give the file of words with --vocabulary")
        words = _lines(vocabulary)
        return from_arrays(words, _load(path, file))
    if vocabulary is not None:
        raise VectorFileError(
            "the file contains its own words, so --vocabulary is not needed", "leave --vocabulary out"
        )
    if start.startswith(fasttext.MAGIC):
        return fasttext.source(file, subwords, scratch)
    if start.startswith(b"PK"):
        return _read_npz(file)
    if start.startswith(b"\x80"):
        return from_arrays(*keyed_vectors.read(path, file))
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
        arrays = npy_files.read_npz(file, ("words", "vectors"))
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
        return npy_files.read_npy(file) if is_unpacked(file) else npy_files.map_npy(path)
    except ValueError as error:
        raise VectorFileError(f"not a readable .npy file ({error})") from error


def _lines(path: Path) -> list[bytes]:
    with opened(path) as (file, _):
        return file.read().removesuffix(b"\n").replace(b"\r\n", b"\n").split(b"\n")
