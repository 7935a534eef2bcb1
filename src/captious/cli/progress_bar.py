"""A progress bar on stderr for work that takes more than two seconds; nothing at all for shorter work."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from captious.progress import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_PATIENCE = 2.0  # seconds


class ProgressBar:
    """Shows a person at a terminal what is being done. Only the bar of the innermost work is on the screen."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._open: list[_Shown] = []  # work in hand, the innermost last

    def begin(self, work: Progress) -> None:
        shown = _Shown(work)
        shown.timer = threading.Timer(_PATIENCE, self._show, [shown])
        shown.timer.daemon = True
        with self._lock:
            self._open.append(shown)
        with suppress(RuntimeError):  # no thread can be started; the work goes on without a bar
            shown.timer.start()

    def change(self, work: Progress) -> None:
        with self._lock:
            for shown in self._open:
                if shown.work is work:
                    shown.update()

    def end(self, work: Progress) -> None:
        with self._lock:
            for shown in [entry for entry in self._open if entry.work is work]:
                self._open.remove(shown)  # a timer that is just firing shows nothing any more
                if shown.timer is not None:
                    shown.timer.cancel()
                if shown.bar is not None:
                    shown.bar[0].stop()
            self._draw()

    def _show(self, shown: _Shown) -> None:
        with self._lock:
            if shown in self._open:
                shown.make_bar()
                self._draw()

    def _draw(self) -> None:
        bars = [entry.bar[0] for entry in self._open if entry.bar is not None]
        for bar in bars[:-1]:
            bar.stop()
        if bars:
            bars[-1].start()


class _Shown:
    """Work in hand, and its bar once it has taken long enough."""

    def __init__(self, work: Progress) -> None:
        self.work = work
        self.timer: threading.Timer | None = None
        self.bar: tuple[Bar, TaskID] | None = None

    def make_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        description = TextColumn("{task.description}", markup=False)
        columns = (description, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        bar = Bar(*columns, console=Console(stderr=True), transient=True)
        completed = max(0, self.work.done - 1)
        self.bar = (bar, bar.add_task(self.work.what, total=self.work.total, completed=completed))

    def update(self) -> None:
        if self.bar is not None:
            bar, task = self.bar
            bar.update(task, description=self.work.what, completed=self.work.done)
