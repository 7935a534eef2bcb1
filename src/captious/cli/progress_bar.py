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
    """Shows progress on a terminal, of the innermost task that has taken long enough."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._open: dict[Progress, threading.Timer] = {}  # running work, innermost last
        self._tasks: dict[Progress, TaskID] = {}  # of work that has taken long enough
        self._bar: Bar | None = None

    def begin(self, work: Progress) -> None:
        timer = threading.Timer(_PATIENCE, self._show, [work])
        timer.daemon = True
        with self._lock:
            self._open[work] = timer
        with suppress(RuntimeError):  # no thread can be started; the work goes on without a bar
            timer.start()

    def change(self, work: Progress) -> None:
        with self._lock:
            if self._bar is not None and work in self._tasks:
                self._bar.update(self._tasks[work], description=work.what, completed=work.done)

    def end(self, work: Progress) -> None:
        with self._lock:
            self._open.pop(work).cancel()  # a timer that is firing now shows nothing
            if self._bar is not None and work in self._tasks:
                self._bar.refresh()
                self._bar.remove_task(self._tasks.pop(work))
                self._draw(self._bar)

    def _show(self, work: Progress) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        with self._lock:
            if work not in self._open:
                return
            if self._bar is None:
                description = TextColumn("{task.description}", markup=False)
                columns = (description, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
                self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            completed = max(0, work.done - 1)
            self._tasks[work] = self._bar.add_task(work.what, total=work.total, completed=completed)
            self._draw(self._bar)

    def _draw(self, bar: Bar) -> None:
        shown = next((work for work in reversed(self._open) if work in self._tasks), None)
        for work, task in self._tasks.items():
            bar.update(task, visible=work is shown)
        if shown is not None:
            bar.start()
        else:
            bar.stop()
            self._bar = None


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
