"""Files of weights: safetensors with metadata for everything else that a metric needs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.errors import CaptiousError, ParameterError, ResourceError
from captious.files.atomic_write import whole_file
from captious.files.checksum import checksum

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]

_FORMAT = 1
_MOST = 1 << 28  # bytes of weights of captious
_CONFIG = "captious"  # the one entry of the metadata: with several, their order would be left to chance


def check_name(name: str) -> None:
    """Check that a name is valid for weights in a signature.

    Raises:
        ParameterError: not letters, digits, dots, - and _.
    """
    if not name or not name.isascii() or not all(c.isalnum() or c in ".-_" for c in name):
        raise ParameterError(f"{name!r:.60} is not a valid name for weights", help="use letters, digits, dots, - and _")


def write_weights(
    path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], value: Mapping[str, Any], entry: str = _CONFIG
) -> None:
    """Write arrays together with plain values. The same content gives the same bytes.

    Args:
        path: the file.
        arrays: arrays by name.
        value: the plain values.
        entry: the metadata entry for the plain values.

    Raises:
        OutputError: the file cannot be written.
    """
    from safetensors.numpy import save

    header = json.dumps({"format": _FORMAT, **value}, sort_keys=True, ensure_ascii=False)
    content = save(dict(arrays), {entry: header})
    with whole_file(path, "wb") as file:
        file.write(content)


def read_weights(
    path: str | os.PathLike[str],
    make: Callable[[Arrays, dict[str, Any], str], T],
    *,
    entry: str = _CONFIG,
    what: str = "a learned metric",
    most: int = _MOST,
    help: str,
) -> T:
    """Read a file written by ``write_weights``.

    Args:
        path: the file.
        make: creates a metric's weights from the arrays, the plain values, and the file name with a checksum; any
            exception it raises means a damaged file.
        entry: the metadata entry of the plain values.
        what: the metric, for messages.
        most: maximum size of the file in bytes.
        help: advice on which file to pass.

    Raises:
        ResourceError: no such file, one of another version, or not a complete file of these weights.
    """
    from safetensors.numpy import load

    try:
        with open(path, "rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise ResourceError(f"cannot read weights: {error.strerror}", where=str(path), help=help) from error
    if len(content) > most:
        raise ResourceError("this file is too large for weights of a metric", where=str(path), help=help)
    try:
        arrays = load(content)  # checks the header against the size
        size = int.from_bytes(content[:8], "little")
        value: dict[str, Any] = json.loads(json.loads(content[8 : 8 + size])["__metadata__"][entry])
        # Only the weights of the metric captious in the package have no format, and entries of their own.
        written = value.pop("format") if entry == _CONFIG else value.pop("format", _FORMAT)
        if written != _FORMAT:
            raise ResourceError("these weights were written by another version of captious")
        return make(arrays, value, f"{Path(path).stem}-{checksum(content)}")
    except CaptiousError as error:
        where = "\n".join(filter(None, [str(path), error.where]))
        raise ResourceError(error.message, where=where, help=help) from error
    except MemoryError:
        raise
    except Exception as error:  # a hostile file may break anything in it
        raise ResourceError(f"not weights of {what}, or a damaged file", where=f"{path}: {error}", help=help) from error


def packed(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantize rows to 8-bit integers with one scale each, as in weights of the metric captious."""
    scales = np.maximum(np.abs(rows).max(axis=1), 1e-12).astype(np.float32) / np.float32(127)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def unpacked(rows: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Restore rows from the result of ``packed``.

    Raises:
        ValueError: shapes or types that do not match.
    """
    if rows.dtype != np.int8 or rows.ndim != 2 or scales.shape != (len(rows),):
        raise ValueError("rows and scales do not match")
    return rows.astype(np.float32) * scales.astype(np.float32)[:, None]
