"""Reading of files as bytes and text: decompression, decoding, and the position of the first error."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import IO, Literal, TypeAlias

from captious.data.reading.source import Source
from captious.errors import (
    CaptionFileError,
    CaptiousError,
    EmptyInputError,
    EncodingError,
    ParameterError,
    TruncatedFileError,
)
from captious.files.decompression import RAISE_LIMIT, UnpackedSizeError, plain_content

Format: TypeAlias = Literal["json", "jsonl", "csv", "tsv", "parquet", "txt"]

#: By the extension of a file.
FORMATS: dict[str, Format] = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}
EXTENSIONS = tuple(FORMATS)

#: By the extension of a file in which some data sets are published, of lines of an id and a caption.
LINE_FORMATS: dict[str, Format] = {".txt": "txt", ".token": "txt"}

#: Magic bytes of files of prepared references.
PREPARED_MAGIC = b"CAPTREFS"

_STANDARD_INPUT = ("-", "/dev/stdin")
# A stream can be read only once: the stream, its content, and its use.
_standard_input: tuple[object, bytes, str] = (None, b"", "")


def is_standard_input(path: str | os.PathLike[str]) -> bool:
    """Return whether a path stands for standard input."""
    return os.fspath(path) in _STANDARD_INPUT


def format_of_name(source: Source, further_formats: Mapping[str, Format] = MappingProxyType({})) -> Format:
    """Return the format of a file by its extension, in upper or lower case, with or without ``.gz``.

    Args:
        source: the file.
        further_formats: by extension, formats besides ``FORMATS``.

    Raises:
        CaptionFileError: an unknown extension, or a directory.
    """
    formats = {**FORMATS, **further_formats}
    extension = Path(source.name.lower().removesuffix(".gz")).suffix
    if os.path.isdir(source.name):
        raise _directory(source)
    if extension not in formats:
        raise CaptionFileError(
            f"{extension!r} is not the extension of a caption file"
            if extension
            else "a caption file needs an extension",
            where=source.name,
            help=f"accepted are {', '.join(formats)}, each plain or with .gz",
        )
    return formats[extension]


def format_of_content(data: bytes) -> Format:
    """Detect the format of standard input, which has no name; csv unless it begins like another format."""
    content = data.removeprefix(codecs.BOM_UTF8).strip()
    first, _, following_lines = content.partition(b"\n")
    if data.startswith(b"PAR1"):
        return "parquet"
    if content.startswith(b"["):
        return "json"
    if not content.startswith(b"{"):
        return "tsv" if b"\t" in first else "csv"
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return "json"
    return "jsonl" if following_lines or "image_id" in record or "id" in record else "json"


def is_prepared(path: str | os.PathLike[str]) -> bool:
    """Return whether this is a file of prepared references, whatever its name."""
    try:
        if not os.path.isfile(path):  # reading a pipe would consume its content
            return False
        with open(path, "rb") as file:
            return file.read(len(PREPARED_MAGIC)) == PREPARED_MAGIC
    except (OSError, ValueError):
        return False


def _directory(source: Source) -> CaptionFileError:
    return CaptionFileError(
        "this is a directory, not a file",
        where=source.name,
        help=f"give the file inside it that holds the {source.role}",
    )


@contextmanager
def reading(source: Source) -> Iterator[None]:
    """Turn errors of reading and decompressing a file into errors that name it.

    Raises:
        CaptionFileError: no such file, not a file, not readable, not gzip despite its name, or too large when
            decompressed.
        TruncatedFileError: gzip data that is truncated.
    """
    if "\0" in source.name:
        raise CaptionFileError(
            "the file cannot be read: its name contains a null character",
            where=source.name,
            help="check its path and permissions",
        )
    try:
        yield
    except (CaptiousError, MemoryError):
        raise
    except FileNotFoundError:
        help = f"give the path of a file of {source.role}"
        if source.role in ("candidates", "references"):
            help = f"give the path of the {source.role}, or the captions"
        if "://" in source.name:
            help = "nothing is downloaded: download the file, and give its path"
        elif source.name.startswith("~"):
            help = "~ is not replaced by the home folder here: os.path.expanduser does that"
        raise CaptionFileError("there is no such file", where=source.name, help=help) from None
    except IsADirectoryError:
        raise _directory(source) from None
    except EOFError:
        raise TruncatedFileError(
            "the gzip data is truncated", where=source.name, help="download or compress the file again"
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise CaptionFileError(
            f"this is not gzip data, or it is damaged: {error}",
            where=source.name,
            help="download or compress the file again; if it is not compressed, remove .gz from its name",
        ) from None
    except UnpackedSizeError as error:
        raise CaptionFileError(f"the file is too large: {error}", where=source.name, help=RAISE_LIMIT) from None
    except OSError as error:
        raise CaptionFileError(
            f"the file cannot be read: {error.strerror or error}",
            where=source.name,
            help="check its path and permissions",
        ) from error


def read_bytes(source: Source) -> bytes:
    """Return the content of a file, decompressed if it is a gzip file.

    Raises:
        CaptionFileError: as ``reading`` does.
        EmptyInputError: only white space.
        ParameterError: standard input has already been read.
    """
    with reading(source):
        data = _read_standard_input(source) if source.is_standard_input else Path(source.name).read_bytes()
        data = plain_content(data, source.name)
    content = data.removeprefix(codecs.BOM_UTF8)
    if not content or content.isspace():
        raise EmptyInputError(
            "the file is empty", where=source.name, help=f"is this the right file for the {source.role}?"
        )
    return data


def _read_standard_input(source: Source) -> bytes:
    global _standard_input
    stream, content, role = _standard_input
    if stream is not sys.stdin:
        content, role = sys.stdin.buffer.read(), source.role
        _standard_input = sys.stdin, content, role
    if role != source.role:
        raise ParameterError(
            f"standard input cannot hold both {role} and {source.role}", help="give a file for one of them"
        )
    return content


def decode(data: bytes | bytearray, source: Source) -> str:
    """Decode UTF-8 text, with or without a byte order mark.

    Raises:
        EncodingError: not UTF-8; names the first invalid byte, counted from 0, and its line.
    """
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise _not_utf8(error, source) from None


def conversion_help(beginning: bytes) -> str:
    """Return how to convert a file to UTF-8, given its first bytes: from UTF-16 if they are its byte order mark."""
    encoding = "utf-16" if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "latin1"
    return f"save it as UTF-8, for example: iconv -f {encoding} -t utf-8"


def text_lines(
    file: IO[bytes], source: Source, longest: int | None, *, carriage_returns: bool = False
) -> Iterable[str]:
    """Iterate over lines of UTF-8 text. Only line feeds end them, as captions may contain U+2028 and similar
    characters.

    Args:
        longest: maximum bytes of a line, for a file that need not fit in memory; None if the whole file is read.
        carriage_returns: whether a carriage return alone ends a line, too.

    Raises:
        EncodingError: as ``decode``.
        CaptionFileError: a longer line.
    """
    if longest is None:
        return io.StringIO(decode(file.read(), source), newline="" if carriage_returns else "\n")
    lines = _streamed_lines(file, source, longest)
    if not carriage_returns:
        return lines
    return (part for line in lines for part in re.split(r"(?<=\r)(?!\n)", line) if part)


def _streamed_lines(file: IO[bytes], source: Source, longest: int) -> Iterator[str]:
    number, offset = 0, 0
    while line := file.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise CaptionFileError(
                f"a line has more than {longest:,} bytes",
                where=f"{source.name}: line {number:,}",
                help="write one row per line",
            )
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise _not_utf8(error, source, line=number, offset=offset) from None
        yield text.removeprefix("\ufeff") if number == 1 else text
        offset += len(line)


def _not_utf8(error: UnicodeDecodeError, source: Source, *, line: int = 1, offset: int = 0) -> EncodingError:
    """Return the error for invalid bytes, given the line and the offset where they start."""
    line += error.object.count(b"\n", 0, error.start)
    beginning = error.object if offset == 0 else b""
    return EncodingError(
        "the file is not UTF-8 text",
        where=f"{source.name}: line {line:,}, byte offset {offset + error.start:,} (0x{error.object[error.start]:02x})",
        help=conversion_help(beginning),
    )
