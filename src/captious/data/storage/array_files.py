"""Files of named arrays with a JSON header, mapped into memory when they are read, so that processes share them.

Layout: eight bytes of magic, the length and the CRC-32 of the header (little-endian, 32 bits each); the header, JSON,
padded with spaces; the arrays, each padded with zeros. Header and arrays begin at multiples of 64. The header holds a
description, and the dtype, shape and CRC-32 (padding included) of each array in file order.

Opening checks the header, its own checksum included, against the size of the file. Arrays are checked when they are
first requested, or all at once when the file is opened. Nothing is unpickled, and no memory is allocated for sizes that
a header claims. Checksums detect damage, not malice: callers must check that indices in the arrays are within bounds.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import CaptionFileError, TruncatedFileError

_PROLOGUE = struct.Struct("<8sII")
_ALIGNMENT = 64
_LONGEST_HEADER = 1 << 28
_PIECE = 1 << 18
_DTYPES = frozenset(("|u1", "|b1", "<u2", "<u4", "<i4", "<i8", "<f4", "<f8"))


def write_array_file(
    file: IO[bytes], magic: bytes, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write named arrays, preceded by eight bytes of magic and a JSON header."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    entries = {}
    for name, array in plain.items():
        if array.dtype.str not in _DTYPES:
            raise TypeError(f"{name} is an array of {array.dtype}")
        crc = zlib.crc32(_padding(array.nbytes), zlib.crc32(_bytes(array)))
        entries[name] = [array.dtype.str, list(array.shape), crc]
    header = json.dumps({"arrays": entries, "about": about}, separators=(",", ":")).encode()
    header = header.ljust(_aligned(_PROLOGUE.size + len(header)) - _PROLOGUE.size)
    file.write(_PROLOGUE.pack(magic, len(header), zlib.crc32(header)) + header)
    for array in plain.values():
        file.write(_bytes(array))
        file.write(_padding(array.nbytes))


class ArrayFile:
    """An open file of arrays. Threads may share it.

    Args:
        path: the file.
        magic: the bytes that it must begin with.
        what: what such a file is called in messages, as in "a file of prepared references".
        help: advice for messages about a damaged file.
        check_unless: check all arrays now, unless the file has this identity. None: check each array when it is
            requested.

    Attributes:
        about: the description that was written.
        checksum: checksum of the header, which identifies the content.
        identity: inode, size and times of the file; it changes with the content.

    Raises:
        CaptionFileError: the file is damaged or of another kind; TruncatedFileError if it is truncated.
        OSError: it cannot be read.
    """

    def __init__(
        self, path: str | os.PathLike[str], magic: bytes, *, what: str, help: str, check_unless: str | None = None
    ) -> None:
        self.path = os.fspath(path)
        self._what, self._help = what, help
        with open(path, "rb") as file:
            state = os.fstat(file.fileno())
            self.identity = f"{state.st_ino} {state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}"
            prologue = file.read(_PROLOGUE.size)
            if len(prologue) < _PROLOGUE.size:
                raise self._truncated(state.st_size, _PROLOGUE.size)
            start, length, self.checksum = _PROLOGUE.unpack(prologue)
            if start != magic:
                raise CaptionFileError(f"this is not {what}", where=self.path, help=help)
            if (_PROLOGUE.size + length) % _ALIGNMENT:
                raise self.damaged("its header has an impossible length")
            if state.st_size < _PROLOGUE.size + length:
                raise self._truncated(state.st_size, _PROLOGUE.size + length)
            header = file.read(length) if length <= _LONGEST_HEADER else b""
            if zlib.crc32(header) != self.checksum:
                raise self.damaged("its header does not have the checksum that it should have")
            try:
                content = json.loads(header)
                self.about: Mapping[str, Any] = content["about"]
                self._entries, whole = _entries(content["arrays"], _PROLOGUE.size + length)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                raise self.damaged(f"its header is wrong: {error}") from None
            if state.st_size < whole:
                raise self._truncated(state.st_size, whole)
            if state.st_size > whole or not isinstance(self.about, dict):
                raise self.damaged(f"it has {state.st_size:,} bytes where {whole:,} were written")
            self._all_checked = check_unless is not None
            if check_unless not in (None, self.identity):
                self._check_all(file)
            self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._arrays: dict[str, NDArray[Any]] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name; see ``array``."""
        return {name: self.array(name) for name in self._entries}

    def array(self, name: str) -> NDArray[Any]:
        """Return an array, read-only and mapped. It is checked at the first request.

        Raises:
            CaptionFileError: there is no such array, or it is damaged.
        """
        if name not in self._arrays:
            entry = self._entries.get(name)
            if entry is None:
                raise self.damaged(f"it has no array {name}")
            if not self._all_checked:
                self._compare(name, zlib.crc32(np.frombuffer(self._mapped, np.uint8, entry.stored, entry.start).data))
            flat = np.frombuffer(self._mapped, entry.dtype, math.prod(entry.shape), entry.start)
            self._arrays[name] = flat.reshape(entry.shape)
        return self._arrays[name]

    def damaged(self, how: str) -> CaptionFileError:
        """Return the error for damaged content."""
        return CaptionFileError(f"{self._what} is damaged: {how}", where=self.path, help=self._help)

    def _check_all(self, file: IO[bytes]) -> None:
        """Check the arrays by reading the file, so that arrays which are never used are not mapped into memory."""
        for name, entry in self._entries.items():
            crc = 0
            for begin in range(0, entry.stored, _PIECE):
                crc = zlib.crc32(file.read(min(_PIECE, entry.stored - begin)), crc)
            self._compare(name, crc)

    def _compare(self, name: str, crc: int) -> None:
        if crc != self._entries[name].crc:
            raise self.damaged(f"{name} does not have the checksum that it should have")

    def _truncated(self, size: int, whole: int) -> TruncatedFileError:
        return TruncatedFileError(
            f"{self._what} is truncated: it has {size:,} of at least {whole:,} bytes", where=self.path, help=self._help
        )


@dataclass(frozen=True)
class _Entry:
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    crc: int
    start: int  # in the file
    stored: int  # bytes, padding included


def _entries(header: Mapping[str, list[Any]], start: int) -> tuple[dict[str, _Entry], int]:
    """Return the entries of a header, and where the last array ends."""
    entries = {}
    for name, (dtype, shape, crc) in header.items():
        are_sizes = all(type(n) is int and 0 <= n < 1 << 62 for n in (crc, *shape))
        if dtype not in _DTYPES or len(shape) > 3 or not are_sizes:
            raise ValueError(f"{name} is not an array")
        kind = np.dtype(dtype)
        size = _aligned(math.prod(shape) * kind.itemsize)
        entries[name] = _Entry(kind, tuple(shape), crc, start, size)
        start += size
    return entries, start


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _padding(size: int) -> bytes:
    return bytes(_aligned(size) - size)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
