"""Progress on stderr: a bar at a terminal for tasks of more than two seconds, elsewhere a line a minute."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from captious.progress import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_PATIENCE = 2.0  # seconds
_INTERVAL = 60.0  # seconds between lines


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


class ProgressLines:
    """Writes one line a minute about the innermost task, for log files; nothing in the first minute of a run."""

    def __init__(self) -> None:
        self._start = self._last = time.monotonic()
        self._open: list[Progress] = []  # running work, innermost last
        self._timer: threading.Timer | None = None

    def begin(self, work: Progress) -> None:
        self._open.append(work)
        if self._timer is None:
            self._wait()

    def change(self, work: Progress) -> None:
        pass

    def end(self, work: Progress) -> None:
        self._open.remove(work)
        if not self._open and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        self._timer = threading.Timer(max(0.0, self._last + _INTERVAL - time.monotonic()), self._write)
        self._timer.daemon = True
        with suppress(RuntimeError):  # no thread can be started; the work goes on without lines
            self._timer.start()

    def _write(self) -> None:
        running = [*self._open]  # of this moment, as the work goes on in its own thread
        if not running:
            return
        self._last = time.monotonic()
        for work in [work for work in running if work.what][-1:]:
            minutes = round((self._last - self._start) / 60)
            click.echo(f"after {minutes} min: {work.what} ({work.done:,} of {work.total:,})", err=True)
        self._wait()
