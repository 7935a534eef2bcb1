"""A new folder that appears with all its files, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from captious.atomic_write import advice
from captious.errors import OutputError

__all__ = ["new_folder"]


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder, whose files are moved to `folder` when the block ends well; otherwise it leaves no trace.

    Raises:
        OutputError: the folder exists and is not empty, or cannot be made.
    """
    try:
        there = folder.is_dir()
        if folder.exists() and (not there or any(folder.iterdir())):
            raise OutputError(
                f"{folder} {'is not empty' if there else 'is a file'}",
                help="name a folder that does not exist yet, or an empty one",
            )
        parent = (folder if there else folder.parent).resolve()
        staging = parent / f".captious-{secrets.token_hex(4)}"
        staging.mkdir()
        try:
            yield staging
            if there:  # it may be the current folder of a shell, so it stays
                _move_all(staging, parent)
            else:
                os.rename(staging, folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        raise OutputError(
            f"cannot write {folder}",
            where=error.strerror or str(error),
            help=advice(error) or "name a folder in one that exists and is writable",
        ) from error


def _move_all(source: Path, target: Path) -> None:
    moved: list[Path] = []
    try:
        for path in sorted(source.iterdir()):
            os.rename(path, target / path.name)
            moved.append(target / path.name)
    except BaseException:
        for path in moved:
            os.rename(path, source / path.name)
        raise
