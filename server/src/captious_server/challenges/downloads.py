"""Downloads that give away references: what their text has in common with these, in any layout, also compressed."""

from __future__ import annotations

import gzip
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Set
from contextlib import suppress
from pathlib import Path
from typing import IO

_CHUNK_BYTES, _MAX_CHARACTERS = 1 << 20, 1 << 28  # of a download
_GZIP = b"\x1f\x8b"  # how its files begin
_SEPARATORS = re.compile(r'[",;|<>\t\r\n\0]+')  # of captions in JSON, tables and sheets
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_UNREADABLE = (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)  # encrypted, damaged


def pieces_of(texts: Iterable[str]) -> Iterator[str]:
    """The parts of texts between quotes, commas and line breaks, without case."""
    for text in texts:
        for piece in _SEPARATORS.split(_ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)):
            if piece := piece.strip(" \\").casefold():
                yield piece


def known_pieces(path: Path, wanted: Set[str]) -> set[str]:
    """Those of some pieces that are in the readable beginning of a file."""
    known: set[str] = set()
    n = 0
    for text in _texts(path):
        known.update(piece for piece in pieces_of([text]) if piece in wanted)
        n += len(text)
        if n > _MAX_CHARACTERS:
            break
    return known


def _texts(path: Path) -> Iterator[str]:
    """The text of a file or of the files in a zip file, decompressed, in parts."""
    with suppress(*_UNREADABLE), path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            file.seek(0)
            yield from _decompressed(file)
            return
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                with suppress(*_UNREADABLE), archive.open(entry) as member:
                    yield from _decompressed(member)


def _decompressed(file: IO[bytes]) -> Iterator[str]:
    start = file.read(2)
    file.seek(0)
    content = gzip.GzipFile(fileobj=file) if start == _GZIP else file
    while data := content.read(_CHUNK_BYTES):
        yield data.decode(errors="replace")
