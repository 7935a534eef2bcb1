"""A progress bar on stderr for tasks that take more than two seconds; nothing for shorter ones."""

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
    """Shows progress on a terminal. Only the bar of the innermost task is visible."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._open: list[_Bar] = []  # running work, innermost last

    def begin(self, work: Progress) -> None:
        entry = _Bar(work)
        entry.timer = threading.Timer(_PATIENCE, self._show, [entry])
        entry.timer.daemon = True
        with self._lock:
            self._open.append(entry)
        with suppress(RuntimeError):  # no thread can be started; the work goes on without a bar
            entry.timer.start()

    def change(self, work: Progress) -> None:
        with self._lock:
            for entry in self._open:
                if entry.work is work:
                    entry.update()

    def end(self, work: Progress) -> None:
        with self._lock:
            for entry in [entry for entry in self._open if entry.work is work]:
                self._open.remove(entry)  # so that a timer that is firing now shows nothing
                if entry.timer is not None:
                    entry.timer.cancel()
                if entry.bar is not None:
                    entry.bar[0].stop()
            self._draw()

    def _show(self, entry: _Bar) -> None:
        with self._lock:
            if entry in self._open:
                entry.make_bar()
                self._draw()

    def _draw(self) -> None:
        bars = [entry.bar[0] for entry in self._open if entry.bar is not None]
        for bar in bars[:-1]:
            bar.stop()
        if bars:
            bars[-1].start()


class _Bar:
    """A running task, and its bar once it has taken long enough."""

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
