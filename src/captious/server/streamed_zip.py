"""A zip file that is sent while it is made."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_BLOCK_BYTES = 1 << 16
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # so that equal content gives equal files


class _Sink(io.RawIOBase):
    """A buffer that keeps written bytes until they are taken."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        data, self._parts = b"".join(self._parts), []
        return data


def zip_blocks(files: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """A zip file of files, each with its name and its content in parts."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, parts in files:
            with archive.open(zipfile.ZipInfo(name, _FIXED_DATE), "w", force_zip64=True) as entry:
                for part in parts:
                    entry.write(part)
                    yield sink.take()
    yield sink.take()


def content(path: Path) -> Iterator[bytes]:
    """A file in parts."""
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            yield block
