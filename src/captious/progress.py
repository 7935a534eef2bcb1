"""Progress of long tasks, reported as events to an observer. Silent unless one is installed.

    with Progress(len(files)) as progress:
        for file in files:
            progress.step(f"reading {file}")

or, where every item is a step,

    with steps(files, lambda file: f"reading {file}") as named:
        for file in named:

The command line installs an observer that draws a bar; a notebook or a server installs its own with ``observed``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Protocol, TypeVar

__all__ = ["Observer", "Progress", "observed", "steps"]

T = TypeVar("T")


class Observer(Protocol):
    """Receives progress events. Tasks can be nested; inner ones end first."""

    def begin(self, work: Progress) -> None:
        """Show that a task begins."""
        ...

    def change(self, work: Progress) -> None:
        """Show that ``work.what`` or ``work.done`` has changed."""
        ...

    def end(self, work: Progress) -> None:
        """Show that a task has ended, successfully or not."""
        ...


_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)


@contextmanager
def observed(observer: Observer | None) -> Iterator[None]:
    """Report the progress of all tasks in the block to an observer; None for silence."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def told(listener: Callable[[str], None]) -> Iterator[None]:
    """Give what tasks in the block have to say, one line at a time, to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(line: str) -> bool:
    """Say a line about a task, such as its duration. Return whether anyone listens."""
    listener = _listener.get()
    if listener is not None:
        listener(line)
    return listener is not None


class Progress:
    """A task that is done in steps. A context manager.

    Args:
        total: number of steps.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        #: Steps that are done, or in hand.
        self.done = 0
        #: Description of the current work.
        self.what = ""
        self._observer: Observer | None = None

    def __enter__(self) -> Progress:
        self._observer = _observer.get()
        if self._observer is not None:
            self._observer.begin(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, MemoryError) and self.what and not hasattr(error, "__notes__"):
            error.add_note(f"during: {self.what}")
        if self._observer is not None:
            self._observer.end(self)

    def step(self, what: str) -> None:
        """Begin the next step."""
        self.reach(self.done, what)
        self.done += 1

    def reach(self, done: int, what: str) -> None:
        """Set the number of completed steps."""
        self.what, self.done = what, done
        if self._observer is not None:
            self._observer.change(self)


@contextmanager
def steps(items: Sequence[T], what: Callable[[T], str]) -> Iterator[Iterator[T]]:
    """Return a context that yields items, each as one step.

    Args:
        items: n items.
        what: describes the step of an item.
    """
    with Progress(len(items)) as progress:

        def begun(item: T) -> T:
            progress.step(what(item))
            return item

        yield map(begun, items)
