"""Reading files as bytes and text: located, unpacked and decoded, with the position of the first error."""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from pathlib import Path

from captious.data.rows import Source
from captious.errors import CaptionFileError, EmptyInputError, EncodingError, TruncatedFileError
from captious.unpacking import RAISE_LIMIT, UnpackedSizeError, plain_content

__all__ = ["EXTENSIONS", "decode", "extension", "line_and_column", "read_bytes"]

EXTENSIONS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")


def extension(source: Source) -> str:
    """The extension that says how to read a file, in lower case and without ``.gz``.

    Raises:
        CaptionFileError: none of ``EXTENSIONS``, or a directory.
    """
    found = Path(source.name.lower().removesuffix(".gz")).suffix
    if os.path.isdir(source.name):
        raise _directory(source)
    if found not in EXTENSIONS:
        raise CaptionFileError(
            f"{found!r} is not the extension of a caption file" if found else "a caption file needs an extension",
            where=source.name,
            help=f"accepted are {', '.join(EXTENSIONS)}, each plain or with .gz",
        )
    return found


def _directory(source: Source) -> CaptionFileError:
    return CaptionFileError(
        "this is a directory, not a file",
        where=source.name,
        help=f"give the file inside it that holds the {source.role}",
    )


def read_bytes(source: Source) -> bytes:
    """What a file holds, unpacked if it is a gzip file.

    Raises:
        CaptionFileError: no such file, not a file, not readable, not gzip in spite of its name, or too large unpacked.
        TruncatedFileError: gzip data that is truncated.
        EmptyInputError: nothing but white space.
    """
    try:
        data = plain_content(Path(source.name).read_bytes(), source.name)
    except FileNotFoundError:
        raise CaptionFileError(
            "there is no such file", where=source.name, help=f"give the path of the {source.role}, or the captions"
        ) from None
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
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CaptionFileError(
            f"the file cannot be read: {reason}", where=source.name, help="check its path and permissions"
        ) from None
    content = data.removeprefix(codecs.BOM_UTF8)
    if not content or content.isspace():
        raise EmptyInputError(
            "the file is empty", where=source.name, help=f"is this the right file for the {source.role}?"
        )
    return data


def decode(data: bytes, source: Source) -> str:
    """UTF-8 text, with or without a byte order mark.

    Raises:
        EncodingError: not UTF-8; names the first wrong byte, counted from 0, and its line.
    """
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        offset = error.start + len(data) - len(body)
        raise EncodingError(
            "the file is not UTF-8 text",
            where=f"{source.name}: line {line:,}, byte offset {offset:,} (0x{data[offset]:02x})",
            help="save it as UTF-8, for example: iconv -f latin1 -t utf-8",
        ) from None


def line_and_column(text: str, position: int) -> str:
    """A human-readable position in a text: "line 3, column 14"."""
    line_start = text.rfind("\n", 0, position) + 1
    return f"line {text.count(chr(10), 0, position) + 1:,}, column {position - line_start + 1:,}"
