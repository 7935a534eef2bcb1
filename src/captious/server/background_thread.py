"""A thread that works in the background of a process."""

from __future__ import annotations

import threading
from typing import Self


class BackgroundThread:
    """A thread that runs for as long as the block of a ``with`` statement. Subclasses define ``run``.

    Args:
        name: name of the thread.
        join_seconds: time that it may take to end, after which the process goes on; None for any time.

    Attributes:
        stop: is set when the block ends.
    """

    def __init__(self, name: str, *, join_seconds: float | None = None) -> None:
        self.stop = threading.Event()
        self._thread = threading.Thread(target=self.run, name=name, daemon=True)
        self._join_seconds = join_seconds

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self._thread.join(self._join_seconds)

    def run(self) -> None:
        """Work until ``stop`` is set."""
        raise NotImplementedError
