"""Locating CoreNLP's English grammar in its published files.

It is a file of 2 MB, ``englishPCFG.ser.gz``. The models jar, of 360 MB, contains it, and the distribution is a zip that
contains that jar.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from captious.resources.remote_files import FileOfPieces, copied

GRAMMAR = "englishPCFG.ser.gz"
MODELS_JAR = "stanford-corenlp-3.6.0-models.jar"

_LARGEST = 1 << 25  # bytes of a grammar
_LOCAL_HEADER = struct.Struct("<4s22xHH")


def packed_grammar(file: IO[bytes], tell: Callable[[str], None] | None) -> bytes:
    """Return the content of ``englishPCFG.ser.gz``.

    Args:
        file: this file, a zip (or jar) that contains it, or a zip with a models jar that contains it.
        tell: called with a message before a whole jar is unpacked to disk; None to refuse such a jar.

    Raises:
        ValueError: another file, or a damaged one.
        OSError: it cannot be read.
    """
    if file.read(2) == b"\x1f\x8b":
        file.seek(0)
        return _bounded(file)
    try:
        with zipfile.ZipFile(file) as archive:
            return _read_member(archive, file, tell)
    except (EOFError, RuntimeError, struct.error, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"neither {GRAMMAR} nor a complete zip ({error})") from error


def _read_member(archive: zipfile.ZipFile, file: IO[bytes], tell: Callable[[str], None] | None) -> bytes:
    for entry in archive.infolist():
        if entry.filename.rpartition("/")[2] == GRAMMAR:
            with archive.open(entry) as member:
                return _bounded(member)
    for entry in archive.infolist():
        if entry.filename.endswith("-models.jar"):
            with _opened(archive, entry, file, tell) as inner, zipfile.ZipFile(inner) as jar:
                names = {name.rpartition("/")[2]: name for name in jar.namelist()}
                if GRAMMAR in names:
                    with jar.open(names[GRAMMAR]) as member:
                        return _bounded(member)
    raise ValueError(f"the zip does not contain {GRAMMAR} (it is in {MODELS_JAR})")


@contextmanager
def _opened(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, file: IO[bytes], tell: Callable[[str], None] | None
) -> Iterator[IO[bytes]]:
    """Open a member of an archive as a seekable file."""
    name = entry.filename.rpartition("/")[2]
    if entry.compress_type == zipfile.ZIP_STORED:
        file.seek(entry.header_offset)
        _, of_name, of_more = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
        start = entry.header_offset + _LOCAL_HEADER.size + of_name + of_more
        yield io.BufferedReader(_Window(file, start, entry.file_size))
    elif tell is not None:
        tell(f"{name} is compressed and will be unpacked temporarily: {entry.file_size / 1e6:,.0f} MB")
        with archive.open(entry) as member, copied(member, entry.file_size, f"unpacking {name}") as copy:
            yield copy
    else:
        raise ValueError(f"{name} inside it is compressed and too large to unpack every time")


class _Window(FileOfPieces):
    """A range of a file as a file."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        super().__init__(size)
        self._file, self._start = file, start

    def _piece(self, at: int, size: int) -> bytes:
        self._file.seek(self._start + at)
        return self._file.read(size)


def _bounded(file: IO[bytes]) -> bytes:
    content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError(f"much larger than {GRAMMAR}")
    return content
