"""Locks between processes, on files in the data folder."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(file: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a file, which is created if needed, with its folder.

    Raises:
        BlockingIOError: without ``wait``, if another process holds it.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
