"""Files of named arrays with a JSON header, mapped into memory when they are read.

Layout: eight bytes of magic, the length and the CRC-32 of the header (little-endian, 32 bits each); the header, JSON,
padded with spaces; the arrays. Header and arrays begin at multiples of 64. The header has the size of what follows and,
for each array, dtype, shape, offset after the header, and CRC-32.

Opening checks the header, its own checksum included, against the size of the file; the checksum of an array is checked
when it is first asked for. Nothing is unpickled, and no memory is allocated for sizes that a header claims. Checksums
find damage, not malice: who uses arrays checks that they lead nowhere out of bounds.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import CaptionFileError, TruncatedFileError

__all__ = ["ArrayFile", "write_array_file"]

_PROLOGUE = struct.Struct("<8sII")
_ALIGNMENT = 64
_LONGEST_HEADER = 1 << 28
_DTYPES = frozenset(("|u1", "|b1", "<u2", "<u4", "<i4", "<i8", "<f4", "<f8"))


def write_array_file(
    file: IO[bytes], magic: bytes, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write arrays by name, after eight bytes of magic and a description of them in JSON."""
    entries = {}
    size = 0
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    for name, array in plain.items():
        if array.dtype.str not in _DTYPES:
            raise TypeError(f"{name} is an array of {array.dtype}")
        entries[name] = [array.dtype.str, list(array.shape), size, zlib.crc32(_bytes(array))]
        size += _aligned(array.nbytes)
    header = json.dumps({"size": size, "arrays": entries, "about": about}, separators=(",", ":")).encode()
    header = header.ljust(_aligned(_PROLOGUE.size + len(header)) - _PROLOGUE.size)
    file.write(_PROLOGUE.pack(magic, len(header), zlib.crc32(header)) + header)
    for array in plain.values():
        file.write(_bytes(array))
        file.write(bytes(_aligned(array.nbytes) - array.nbytes))


class ArrayFile:
    """An open file of arrays. Threads may share it.

    Args:
        path: the file.
        magic: what it must begin with.
        what: what such a file is called in messages, as in "a file of prepared references".
        help: what to do about one that is damaged.

    Raises:
        CaptionFileError: another kind of file, or a damaged one; TruncatedFileError for one that is truncated.
        OSError: it cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], magic: bytes, *, what: str, help: str) -> None:
        self.path = os.fspath(path)
        self._what, self._help = what, help
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            prologue = file.read(_PROLOGUE.size)
            if len(prologue) < _PROLOGUE.size:
                raise self._truncated(size, _PROLOGUE.size)
            start, length, crc = _PROLOGUE.unpack(prologue)
            if start != magic:
                raise CaptionFileError(f"this is not {what}", where=self.path, help=help)
            if (_PROLOGUE.size + length) % _ALIGNMENT:
                raise self.damaged("its header has an impossible length")
            if size < _PROLOGUE.size + length:
                raise self._truncated(size, _PROLOGUE.size + length)
            header = file.read(length) if length <= _LONGEST_HEADER else b""
            if zlib.crc32(header) != crc:
                raise self.damaged("its header does not have the checksum that it should have")
            self._start = _PROLOGUE.size + length
            self.checksum = crc  # tells this content from another
            try:
                content = json.loads(header)
                self.about: Mapping[str, Any] = content["about"]
                self._entries = {name: _entry(content["size"], *entry) for name, entry in content["arrays"].items()}
                whole = self._start + content["size"]
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                raise self.damaged(f"its header is wrong: {error}") from None
            if size < whole:
                raise self._truncated(size, whole)
            if size > whole or not isinstance(self.about, dict):
                raise self.damaged(f"it has {size:,} bytes where {whole:,} were written")
            self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._arrays: dict[str, NDArray[Any]] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def array(self, name: str) -> NDArray[Any]:
        """An array, read-only and mapped; checked at the first request.

        Raises:
            CaptionFileError: there is no such array, or it is damaged.
        """
        if name not in self._arrays:
            entry = self._entries.get(name)
            if entry is None:
                raise self.damaged(f"it has no array {name}")
            dtype, shape, offset, crc = entry
            flat = np.frombuffer(self._mapped, dtype, math.prod(shape), self._start + offset)
            if zlib.crc32(_bytes(flat)) != crc:
                raise self.damaged(f"{name} does not have the checksum that it should have")
            self._arrays[name] = flat.reshape(shape)
        return self._arrays[name]

    def damaged(self, how: str) -> CaptionFileError:
        """The error for content that is not as it was written."""
        return CaptionFileError(f"{self._what} is damaged: {how}", where=self.path, help=self._help)

    def _truncated(self, size: int, whole: int) -> TruncatedFileError:
        return TruncatedFileError(
            f"{self._what} is truncated: it has {size:,} of at least {whole:,} bytes", where=self.path, help=self._help
        )


def _entry(
    size: int, dtype: str, shape: list[int], offset: int, crc: int
) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    """An entry of the header, checked against the size of all arrays."""
    numbers = [size, offset, crc, *shape]
    if dtype not in _DTYPES or len(shape) > 3 or not all(type(n) is int and 0 <= n < 1 << 62 for n in numbers):
        raise ValueError("not an array")
    kind = np.dtype(dtype)
    if offset % _ALIGNMENT or offset + math.prod(shape) * kind.itemsize > size:
        raise ValueError("an array does not fit the file")
    return kind, tuple(shape), offset, crc


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
