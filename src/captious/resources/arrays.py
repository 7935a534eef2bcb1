"""Files of named arrays that are mapped into memory, so that processes share them.

Layout: eight bytes of magic, the length and CRC-32 of the header (little-endian, 32 bits each); the header, JSON: a
label that says what the arrays were made from, the size and CRC-32 of what follows, and for each array name, dtype,
length and offset after the header; the arrays. Header and arrays begin at multiples of 64.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Arrays", "open_arrays", "write_arrays"]

#: One-dimensional arrays by name.
Arrays: TypeAlias = dict[str, NDArray[Any]]

_MAGIC = b"CAPTARR2"
_PROLOGUE = struct.Struct("<8sII")
_ALIGNMENT = 64
_PIECE = 1 << 18
_CHECKED = ".checked"  # the name of a file's note ends with it
_SETTLED = 2_000_000_000  # nanoseconds; clocks of file systems are coarse


def write_arrays(file: IO[bytes], arrays: Mapping[str, NDArray[Any]], label: str) -> None:
    """Write one-dimensional arrays.

    Args:
        file: where to.
        arrays: by name.
        label: what they were made from.
    """
    entries = []
    size = crc = 0
    for name, array in arrays.items():
        entries.append({"name": name, "dtype": array.dtype.str, "length": len(array), "offset": size})
        crc = zlib.crc32(_padding(array), zlib.crc32(_bytes(array), crc))
        size += _aligned(array.nbytes)
    header = json.dumps({"label": label, "size": size, "crc": crc, "arrays": entries}).encode()
    header = header.ljust(_aligned(_PROLOGUE.size + len(header)) - _PROLOGUE.size)
    file.write(_PROLOGUE.pack(_MAGIC, len(header), zlib.crc32(header)) + header)
    for array in arrays.values():
        file.write(_bytes(array))
        file.write(_padding(array))


def open_arrays(path: str | os.PathLike[str], label: str, *, note: bool = False) -> Arrays | None:
    """The arrays of a file, read-only and mapped.

    None if there is no such file, if it has another label, or if any byte differs from what ``write_arrays`` writes.

    Args:
        path: the file.
        label: what the arrays were made from.
        note: write down beside the file that it was checked, and do not check it again until it changes.
    """
    try:
        with open(path, "rb") as file:
            prologue = file.read(_PROLOGUE.size)
            if len(prologue) < _PROLOGUE.size:
                return None
            magic, length, crc = _PROLOGUE.unpack(prologue)
            text = file.read(length)
            if magic != _MAGIC or zlib.crc32(text) != crc:
                return None
            header = json.loads(text)
            start = _PROLOGUE.size + length
            if header["label"] != label or os.fstat(file.fileno()).st_size != start + header["size"]:
                return None
            state = os.fstat(file.fileno())
            if not note or not _was_checked(path, state):
                crc = 0
                while piece := file.read(_PIECE):  # read, not mapped: what is never looked up takes no memory
                    crc = zlib.crc32(piece, crc)
                if crc != header["crc"]:
                    return None
                if note:
                    _note_check(path, state)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return {entry["name"]: _array(mapped, start, entry) for entry in header["arrays"]}
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):  # forged
        return None


def _note_of(state: os.stat_result) -> str:
    """What is written down about a file: whatever changes its content changes the last number, too."""
    return f"checked {state.st_ino} {state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}\n"


def _was_checked(path: str | os.PathLike[str], state: os.stat_result) -> bool:
    try:
        with open(f"{os.fspath(path)}{_CHECKED}", encoding="ascii") as file:
            return file.read(200) == _note_of(state)
    except (OSError, ValueError):
        return False


def _note_check(path: str | os.PathLike[str], state: os.stat_result) -> None:
    """Write down that a file was checked, if that is possible; not while it might still change without notice."""
    if time.time_ns() - state.st_ctime_ns < _SETTLED:
        return
    with suppress(OSError), open(f"{os.fspath(path)}{_CHECKED}", "w", encoding="ascii") as file:
        file.write(_note_of(state))


def _array(mapped: mmap.mmap, start: int, entry: dict[str, Any]) -> NDArray[Any]:
    dtype, length, offset = np.dtype(entry["dtype"]), entry["length"], entry["offset"]
    if dtype.kind not in "iuf" or length < 0 or offset < 0 or offset % _ALIGNMENT:
        raise ValueError("not an array written by write_arrays")
    return np.frombuffer(mapped, dtype, length, start + offset)


def _bytes(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).view(np.uint8).data


def _padding(array: NDArray[Any]) -> bytes:
    return bytes(_aligned(array.nbytes) - array.nbytes)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
