"""numpy's .npy and .npz files of numbers and strings.

Headers are matched, not evaluated, and sizes are checked against the file before memory is allocated.
"""

from __future__ import annotations

import io
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.unpacking import check_size

__all__ = ["MAGIC", "map_npy", "read_npy", "read_npz"]

#: How a .npy file begins.
MAGIC = b"\x93NUMPY"

_LONGEST_HEADER = 1 << 16
_PIECE = 1 << 20
_ENTRY = re.compile(
    r"""\s*["'](?:descr["']\s*:\s*["'](?P<dtype>[<>=|]?[biufUS][1-9]\d{0,8})["']"""
    r"""|fortran_order["']\s*:\s*(?P<order>True|False)"""
    r"""|shape["']\s*:\s*\((?P<shape>[\d\s,L]*)\))\s*(?:,|$)"""
)


class _Header(NamedTuple):
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: Literal["C", "F"]

    @property
    def size(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * self.dtype.itemsize


def map_npy(path: Path) -> NDArray[Any]:
    """The array of a .npy file, mapped into memory.

    Raises:
        ValueError: not a .npy file of numbers or strings, or a truncated one.
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        header = _header(file)
        start = file.tell()
        if os.fstat(file.fileno()).st_size < start + header.size:
            raise ValueError("the file is truncated")
        if not header.size:
            return np.zeros(header.shape, header.dtype)
        mapped: NDArray[Any] = np.memmap(file, header.dtype, "r", start, header.shape, header.order)
    return mapped


def read_npy(file: IO[bytes]) -> NDArray[Any]:
    """The array of a .npy file from the current position; memory is allocated as the bytes arrive.

    Raises:
        ValueError: not a .npy file of numbers or strings, or a truncated one.
    """
    header = _header(file)
    content = bytearray()
    while len(content) < header.size and (piece := file.read(min(_PIECE, header.size - len(content)))):
        content += piece
    if len(content) < header.size:
        raise ValueError("the file is truncated")
    if not header.size:
        return np.zeros(header.shape, header.dtype)
    return np.frombuffer(content, header.dtype).reshape(header.shape, order=header.order)


def read_npz(file: IO[bytes], names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of a .npz file.

    Args:
        file: the file.
        names: of the arrays that are wanted, as far as they are there; None for all.

    Raises:
        ValueError: not a .npz file, a damaged one, or one with anything but arrays of numbers and strings.
        UnpackedSizeError: it unpacks to more than the limit.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            chosen = {name: entry for name, entry in members.items() if names is None or name in names}
            if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in chosen.values()):
                raise ValueError("it uses a compression method that numpy does not use")
            if any(entry.flag_bits & 1 for entry in chosen.values()):
                raise ValueError("it is encrypted")
            check_size(sum(entry.file_size for entry in chosen.values()), file.seek(0, io.SEEK_END))
            found = {}
            for name, entry in chosen.items():
                with archive.open(entry) as member:
                    found[name] = read_npy(member)
            return found
    except (EOFError, NotImplementedError, RuntimeError, struct.error, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(str(error) or "it is truncated") from error


def _header(file: IO[bytes]) -> _Header:
    start = file.read(len(MAGIC) + 2)
    if not start.startswith(MAGIC) or len(start) < len(MAGIC) + 2:
        raise ValueError("not a numpy array")
    form = struct.Struct("<H" if start[-2] == 1 else "<I")
    written = file.read(form.size)
    size = form.unpack(written)[0] if len(written) == form.size else _LONGEST_HEADER + 1
    if size > _LONGEST_HEADER:
        raise ValueError("its header has no end")
    text = file.read(size).decode("utf-8", "replace").strip()
    content = text[1:-1].rstrip()
    given: dict[str, str] = {}
    at = n_entries = 0
    while entry := _ENTRY.match(content, at):
        at, n_entries = entry.end(), n_entries + 1
        given |= {key: value for key, value in entry.groupdict().items() if value is not None}
    if text != f"{{{text[1:-1]}}}" or at < len(content) or n_entries != 3 or len(given) != 3:
        raise ValueError("its header does not describe an array of numbers or strings")
    try:
        dtype = np.dtype(given["dtype"])
        shape = tuple(int(size.rstrip("L")) for size in given["shape"].replace(" ", "").split(",") if size)
        if not math.prod(shape):
            np.zeros(shape, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"its header does not describe an array of numbers or strings ({error})") from error
    return _Header(dtype, shape, "F" if given["order"] == "True" else "C")
