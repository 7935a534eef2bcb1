"""A pause of Python's garbage collection, for while only objects that stay are made.

Facts of all captions are millions of objects, and Python would look through them again and again.
"""

from __future__ import annotations

import gc
import os
import threading

__all__ = ["gc_pause"]


class _Pause:
    """Begins when the first thread enters, and ends when the last one leaves, in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._was_enabled = False

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._was_enabled:
                gc.enable()

    def reset(self) -> None:
        """End the pause in a forked process, which does not have the threads that were inside."""
        if self._inside and self._was_enabled:
            gc.enable()
        self._lock = threading.Lock()
        self._inside = 0


gc_pause = _Pause()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=gc_pause.reset)
