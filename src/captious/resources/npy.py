"""numpy's .npy and .npz files of numbers and strings.

numpy reads the headers; sizes are compared with the file before memory is allocated.
"""

from __future__ import annotations

import io
import math
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from captious.files import check_size

#: The first bytes of a .npy file.
MAGIC = npy.MAGIC_PREFIX

_HEADER_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_LONGEST_HEADER = 1 << 9  # numpy's parser takes too much memory for deeply nested ones
_PIECE = 1 << 20


class _Header(NamedTuple):
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: Literal["C", "F"]

    @property
    def size(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * self.dtype.itemsize


def map_npy(path: Path) -> NDArray[Any]:
    """Return the array of a .npy file, mapped into memory.

    Raises:
        ValueError: not a .npy file of numbers or strings, or a truncated one.
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        header = _read_header(file)
        start = file.tell()
        if os.fstat(file.fileno()).st_size < start + header.size:
            raise ValueError("the file is truncated")
        if not header.size:
            return np.zeros(header.shape, header.dtype)
        return np.memmap(file, header.dtype, "r", start, header.shape, header.order)


def read_npy(file: IO[bytes]) -> NDArray[Any]:
    """Return the array of a .npy file from the current position; memory is allocated as the bytes arrive.

    Raises:
        ValueError: not a .npy file of numbers or strings, or a truncated one.
    """
    header = _read_header(file)
    content = bytearray()
    while len(content) < header.size and (piece := file.read(min(_PIECE, header.size - len(content)))):
        content += piece
    if len(content) < header.size:
        raise ValueError("the file is truncated")
    return np.frombuffer(content, header.dtype).reshape(header.shape, order=header.order)


def read_npz(file: IO[bytes], names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a .npz file.

    Args:
        file: the file.
        names: names of arrays to read, if present; None for all.

    Raises:
        ValueError: not a .npz file, a damaged one, or one with anything but arrays of numbers and strings.
        UnpackedSizeError: it decompresses to more than the limit.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            entries = {name: entry for name, entry in members.items() if names is None or name in names}
            if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries.values()):
                raise ValueError("it uses a compression method that numpy does not use")
            if any(entry.flag_bits & 1 for entry in entries.values()):
                raise ValueError("it is encrypted")
            check_size(sum(entry.file_size for entry in entries.values()), file.seek(0, io.SEEK_END))
            arrays = {}
            for name, entry in entries.items():
                with archive.open(entry) as member:
                    arrays[name] = read_npy(member)
            return arrays
    except (EOFError, NotImplementedError, RuntimeError, struct.error, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(str(error) or "it is truncated") from error


def _read_header(file: IO[bytes]) -> _Header:
    try:
        version = npy.read_magic(file)
    except ValueError:
        raise ValueError("not a numpy array") from None
    try:
        with warnings.catch_warnings(action="ignore"):  # numpy warns of what Python 2 wrote
            shape, fortran, dtype = _HEADER_READERS[version](file, max_header_size=_LONGEST_HEADER)
        if dtype.kind not in "biufUS" or not dtype.itemsize or min(shape, default=0) < 0:
            raise ValueError(f"{dtype} in the shape {shape}")
        if not math.prod(shape):
            np.zeros(shape, dtype)
    except (
        LookupError,
        OverflowError,
        RecursionError,
        SyntaxError,
        TypeError,
        ValueError,
        tokenize.TokenError,
    ) as error:
        raise ValueError("its header does not describe an array of numbers or strings") from error
    return _Header(dtype, shape, "F" if fortran else "C")
