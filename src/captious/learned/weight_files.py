"""Files of weights: safetensors, with everything else that a metric needs in their metadata."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.atomic_write import whole_file
from captious.errors import CaptiousError, ParameterError, ResourceError

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]

_FORMAT = 1
_MOST = 1 << 28  # bytes of weights of captious
_CONFIG = "captious"  # the one entry of the metadata: with several, their order would be left to chance


def check_name(name: str) -> None:
    """Refuse what cannot name weights in a signature.

    Raises:
        ParameterError: not letters, digits, dots, - and _.
    """
    if not name or not name.isascii() or not all(c.isalnum() or c in ".-_" for c in name):
        raise ParameterError(f"{name!r:.60} is not a valid name for weights", help="use letters, digits, dots, - and _")


def write_weights(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], config: Mapping[str, Any]) -> None:
    """Write arrays together with plain values. The same content gives the same bytes.

    Raises:
        OutputError: the file cannot be written.
    """
    from safetensors.numpy import save

    header = json.dumps({"format": _FORMAT, **config}, sort_keys=True, ensure_ascii=False)
    content = save(dict(arrays), {_CONFIG: header})
    with whole_file(path, "wb") as file:
        file.write(content)


def read_weights(
    path: str | os.PathLike[str], make: Callable[[Arrays, dict[str, Any]], T], *, most: int, help: str
) -> T:
    """Read what ``write_weights`` wrote.

    Args:
        path: the file.
        make: makes a metric's weights of the arrays and the plain values; whatever it raises means a damaged file.
        most: bytes that such a file has at most.
        help: which file to give.

    Raises:
        ResourceError: no such file, one of another version, or not a complete file of weights.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise ResourceError(f"cannot read weights: {error.strerror}", where=str(path), help=help) from error
    if len(content) > most:
        raise ResourceError("this file is too large for weights of a metric", where=str(path), help=help)
    try:
        return make(*_configured(content))
    except CaptiousError as error:
        where = "\n".join(filter(None, [str(path), error.where]))
        raise ResourceError(error.message, where=where, help=help) from error
    except MemoryError:
        raise
    except Exception as error:  # a hostile file may break anything in it
        raise ResourceError(
            "not a file of weights of a learned metric, or a damaged one", where=str(path), help=help
        ) from error


def read_caption_weights(path: Path, entry: str, make: Callable[[Arrays, Any, str], T], *, what: str, help: str) -> T:
    """Read weights of the metric captious.

    Args:
        path: the file.
        entry: the entry of the metadata that holds a JSON value.
        make: makes the weights of the arrays, the value, and the name that signatures show: that of the file with a
            checksum.
        what: the metric, for messages.
        help: which file to give.

    Raises:
        ResourceError: the file cannot be read, or holds other weights.
    """
    from safetensors import SafetensorError

    try:
        if path.stat().st_size > _MOST:
            raise ResourceError(f"weights of more than {_MOST:,} bytes", where=str(path), help=help)
        content = path.read_bytes()
        arrays, metadata = _parts(content)
        return make(arrays, json.loads(metadata[entry]), f"{path.stem}-{zlib.crc32(content):08x}")
    except OSError as error:
        raise ResourceError("cannot read the weights", where=str(path), help=error.strerror or str(error)) from error
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ResourceError(f"not weights of {what}", where=f"{path}: {error}", help=help) from error


def write_caption_weights(path: str | os.PathLike[str], arrays: Arrays, entry: str, value: object) -> None:
    """Write what ``read_caption_weights`` reads.

    Raises:
        OutputError: the file cannot be written.
    """
    from safetensors.numpy import save

    with whole_file(path, "wb") as file:
        file.write(save(arrays, {entry: json.dumps(value, sort_keys=True)}))


def packed(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Rows as 8-bit integers with one scale each, as the weights of the metric captious are stored."""
    scales = np.maximum(np.abs(rows).max(axis=1), 1e-12).astype(np.float32) / np.float32(127)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def unpacked(rows: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows from what ``packed`` gives.

    Raises:
        ValueError: shapes or types that do not match.
    """
    if rows.dtype != np.int8 or rows.ndim != 2 or scales.shape != (len(rows),):
        raise ValueError("rows and scales do not match")
    return rows.astype(np.float32) * scales.astype(np.float32)[:, None]


def _parts(content: bytes) -> tuple[Arrays, Any]:
    """Arrays and metadata."""
    from safetensors.numpy import load

    arrays = load(content)  # checks the header against the size
    size = int.from_bytes(content[:8], "little")
    return arrays, json.loads(content[8 : 8 + size])["__metadata__"]


def _configured(content: bytes) -> tuple[Arrays, dict[str, Any]]:
    arrays, metadata = _parts(content)
    config: dict[str, Any] = json.loads(metadata[_CONFIG])
    if config["format"] != _FORMAT:
        raise ResourceError("these weights were written by another version of captious")
    return arrays, config
