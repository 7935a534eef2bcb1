"""A pause of Python's search for garbage, for while only objects that stay are made.

Facts of all captions are millions of objects, and Python would look through them again and again.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["no_garbage"]


class _Pause:
    """Counts who wants the pause: the first to come begins it, and the last to go ends it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = 0
        self._was_enabled = False

    def begin(self) -> None:
        with self._lock:
            if self._wanted == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._wanted += 1

    def end(self) -> None:
        with self._lock:
            self._wanted -= 1
            if self._wanted == 0 and self._was_enabled:
                gc.enable()

    def forget(self) -> None:
        """In a forked process, which does not have the threads that wanted the pause."""
        if self._wanted and self._was_enabled:
            gc.enable()
        self._lock = threading.Lock()
        self._wanted = 0


_pause = _Pause()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pause.forget)


@contextmanager
def no_garbage() -> Iterator[None]:
    """Pause the search for garbage in this process until the last thread has left."""
    _pause.begin()
    try:
        yield
    finally:
        _pause.end()
