"""A progress bar on stderr for work that takes more than two seconds; nothing at all for shorter work."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

__all__ = ["Progress"]

_PATIENCE = 2.0  # seconds


class Progress:
    """Tells a person what is being done. Use it as a context manager and as a callable of steps.

    Args:
        total: number of steps of the whole work.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._what = ""
        self._lock = threading.Lock()
        self._shown: tuple[Bar, TaskID] | None = None
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._total = -1  # a timer that is just firing shows nothing any more
            if self._shown is not None:
                self._shown[0].stop()

    def step(self, what: str) -> None:
        """The next step begins."""
        with self._lock:
            self._what = what
            self._update()
            self._done += 1

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        with self._lock:
            if self._total < 0:
                return
            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
            )
            bar = Bar(*columns, console=Console(stderr=True), transient=True)
            task = bar.add_task(self._what, total=self._total, completed=max(0, self._done - 1))
            bar.start()
            self._shown = (bar, task)

    def _update(self) -> None:
        if self._shown is not None:
            bar, task = self._shown
            bar.update(task, description=self._what, completed=self._done)
