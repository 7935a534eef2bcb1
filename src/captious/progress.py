"""A progress bar on stderr for work that takes more than two seconds; nothing at all for shorter work."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

__all__ = ["Progress"]

_PATIENCE = 2.0  # seconds


class Progress:
    """Tells a person what is being done. Use it as a context manager, and say when a step begins or how far one is.

    Work within work may have a bar of its own, which stands in for the other while it lasts.

    Args:
        total: number of steps of the whole work.
    """

    _open: ClassVar[list[Progress]] = []  # those at work, the innermost last; of those with a bar the last is drawn
    _lock: ClassVar[threading.RLock] = threading.RLock()

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._what = ""
        self._shown: tuple[Bar, TaskID] | None = None
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            with self._lock:
                self._open.append(self)
            with suppress(RuntimeError):  # no thread can be had: then there is no bar
                self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self in self._open:  # a timer that is just firing shows nothing any more
                self._open.remove(self)
            if self._shown is not None:
                self._shown[0].stop()
                self._draw()

    def step(self, what: str) -> None:
        """The next step begins."""
        with self._lock:
            self._what = what
            self._update()
            self._done += 1

    def reach(self, done: int, what: str) -> None:
        """So many steps are done."""
        with self._lock:
            self._what = what
            self._done = done
            self._update()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        with self._lock:
            if self not in self._open:
                return
            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
            )
            bar = Bar(*columns, console=Console(stderr=True), transient=True)
            task = bar.add_task(self._what, total=self._total, completed=max(0, self._done - 1))
            self._shown = (bar, task)
            self._draw()

    def _draw(self) -> None:
        """Only the innermost bar is on the screen."""
        bars = [work._shown[0] for work in self._open if work._shown is not None]
        for bar in bars[:-1]:
            bar.stop()
        if bars:
            bars[-1].start()

    def _update(self) -> None:
        if self._shown is not None:
            bar, task = self._shown
            bar.update(task, description=self._what, completed=self._done)
