"""The progress bar: for people at a terminal who have waited, for nobody else; one at a time."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable

import pytest

from captious import progress
from captious.progress import Progress


class Terminal(io.StringIO):
    """Remembers what was shown."""

    def isatty(self) -> bool:
        return True

    def shows(self, text: str) -> Callable[[], bool]:
        """Whether this has come onto the screen since the last time that it was asked for."""
        start = len(self.getvalue())
        return lambda: text in self.getvalue()[start:]


def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal as stderr, and a person who waits for a moment only.

    No fixture: pytest puts a stderr of its own in place when a test begins.
    """
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "_PATIENCE", 0.02)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return screen


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it is not shown"
        time.sleep(0.005)


def test_long_work_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)
    with Progress(7) as bar:
        shown = terminal.shows("first step")
        bar.step("first step")
        wait_until(shown)
        shown = terminal.shows("second step")
        bar.step("second step")
        wait_until(shown)
        assert "1/7" in terminal.getvalue()
    assert Progress._open == []


def test_how_far_work_is(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)
    with Progress(100) as bar:
        bar.reach(42, "compiling")
        wait_until(terminal.shows("compiling"))
        shown = terminal.shows("43/100")
        bar.reach(43, "compiling")
        wait_until(shown)


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_PATIENCE", 0.2)
    with Progress(3) as bar:
        bar.step("quick")
    time.sleep(0.3)
    assert terminal.getvalue() == ""


def test_no_terminal_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    before = threading.active_count()
    with Progress(3) as bar:
        bar.step("unseen")
        time.sleep(0.05)
        assert threading.active_count() == before
        bar.reach(2, "unseen")
    assert screen.getvalue() == ""


@pytest.mark.parametrize("stderr", [None, object(), "closed"])
def test_no_stderr_no_bar(monkeypatch: pytest.MonkeyPatch, stderr: object) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed if stderr == "closed" else stderr)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    with Progress(3) as bar:
        bar.step("unseen")
        time.sleep(0.05)


def test_without_a_thread_for_the_bar_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)

    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with Progress(3) as bar:
        bar.step("unseen")
    assert terminal.getvalue() == ""


def test_memory_that_runs_out_is_noted_with_the_innermost_step() -> None:
    with pytest.raises(MemoryError) as caught, Progress(3) as outer:
        outer.step("scoring")
        with Progress(100) as inner:
            inner.step("compiling")
            raise MemoryError
    assert caught.value.__notes__ == ["at this step: compiling"]


def test_work_within_work_has_the_screen_while_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)
    with Progress(10) as outer:
        outer.step("outer work")
        wait_until(terminal.shows("outer work"))
        with Progress(100) as inner:
            shown = terminal.shows("inner work")
            inner.reach(50, "inner work")
            wait_until(shown)
            assert Progress._open == [outer, inner]
        assert Progress._open == [outer]
        shown = terminal.shows("outer goes on")
        outer.step("outer goes on")
        wait_until(shown)
    assert Progress._open == []


def test_an_inner_bar_of_short_work_leaves_the_outer_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)
    with Progress(10) as outer:
        outer.step("outer work")
        wait_until(terminal.shows("outer work"))
        monkeypatch.setattr(progress, "_PATIENCE", 60.0)
        with Progress(100) as inner:
            inner.reach(50, "inner work")
        assert Progress._open == [outer]
        shown = terminal.shows("more outer work")
        outer.step("more outer work")
        wait_until(shown)
    assert "inner work" not in terminal.getvalue()


def test_work_that_fails_takes_its_bars_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)

    def work() -> None:
        with Progress(10) as outer:
            outer.step("outer work")
            wait_until(terminal.shows("outer work"))
            with Progress(10) as inner:
                inner.step("inner work")
                wait_until(terminal.shows("inner work"))
                raise ValueError("failed")

    with pytest.raises(ValueError, match="failed"):
        work()
    assert Progress._open == []
    size = len(terminal.getvalue())
    time.sleep(0.15)
    assert len(terminal.getvalue()) == size


def test_without_threads_there_is_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_a_terminal(monkeypatch)

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with Progress(7) as bar:
        bar.step("first step")
    assert terminal.getvalue() == ""
