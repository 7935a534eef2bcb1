"""Compiled arrays that processes map into memory and share.

The label of a file identifies the source of the arrays. A file that is damaged or has another label counts as missing,
and is compiled again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any, TypeAlias

from numpy.typing import NDArray

from captious.data.storage.array_files import ArrayFile, write_array_file
from captious.errors import CaptionFileError

#: Arrays by name.
Arrays: TypeAlias = dict[str, NDArray[Any]]

_MAGIC = b"CAPTARR3"
_CHECKED = ".checked"  # the name of a file's note ends with it
_SETTLED = 2  # seconds; clocks of file systems are coarse


def write_arrays(file: IO[bytes], arrays: Mapping[str, NDArray[Any]], label: str) -> None:
    """Write arrays.

    Args:
        file: the output file.
        arrays: arrays by name.
        label: identifies their source.
    """
    write_array_file(file, _MAGIC, {"label": label}, arrays)


def open_arrays(path: str | os.PathLike[str], label: str, *, note: bool = False) -> Arrays | None:
    """Return the arrays of a file, read-only and mapped.

    None if there is no such file, if it has another label, or if any byte differs from what ``write_arrays`` writes.

    Args:
        path: the file.
        label: identifies the source of the arrays.
        note: record next to the file that it was checked, and do not check it again until it changes.
    """
    checked = _noted(path) if note else ""
    try:
        file = ArrayFile(path, _MAGIC, what="a file of arrays", help="delete it", check_unless=checked)
        if file.about["label"] != label:
            return None
    except (CaptionFileError, OSError, ValueError, KeyError):
        return None
    if note and checked != file.identity:
        _note(path, file.identity)
    return file.arrays()


def _noted(path: str | os.PathLike[str]) -> str:
    """Return the recorded identity of the checked file; empty if none was checked."""
    with suppress(OSError, ValueError), open(f"{os.fspath(path)}{_CHECKED}", encoding="ascii") as file:
        return file.read(200)
    return ""


def _note(path: str | os.PathLike[str], identity: str) -> None:
    """Record that a file was checked, if possible, unless it might still change unnoticed."""
    with suppress(OSError):
        if time.time() - os.stat(path).st_ctime >= _SETTLED:
            with open(f"{os.fspath(path)}{_CHECKED}", "w", encoding="ascii") as file:
                file.write(identity)
