"""Progress: a bar for people at a terminal who have waited, one at a time, and lines for log files."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from captious.cli import progress_bar
from captious.cli.process import at_a_terminal
from captious.cli.progress_bar import ProgressBar, ProgressLines
from captious.progress import Progress, observed


class Terminal(io.StringIO):
    """Records what was shown."""

    def isatty(self) -> bool:
        return True

    def shows(self, text: str) -> Callable[[], bool]:
        """Return whether this has appeared on the screen since the last call."""
        start = len(self.getvalue())
        return lambda: text in self.getvalue()[start:]


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal that replaces stderr. Progress bars appear on it after a moment.

    Not a fixture: pytest puts a stderr of its own in place when a test begins.
    """
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress_bar, "_PATIENCE", 0.02)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return screen


@pytest.fixture(autouse=True)
def bar() -> Iterator[ProgressBar]:
    """The observer that the command line installs at a terminal."""
    observer = ProgressBar()
    with observed(observer):
        yield observer
    assert not observer._open


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it is not shown"
        time.sleep(0.005)


def test_long_work_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with Progress(7) as work:
        shown = terminal.shows("first step")
        work.step("first step")
        wait_until(shown)
        shown = terminal.shows("second step")
        work.step("second step")
        wait_until(shown)
        assert "1/7" in terminal.getvalue()


def test_bar_shows_the_share_of_completed_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with Progress(100) as work:
        work.reach(42, "compiling")
        wait_until(terminal.shows("compiling"))
        shown = terminal.shows("43/100")
        work.reach(43, "compiling")
        wait_until(shown)


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    monkeypatch.setattr(progress_bar, "_PATIENCE", 0.2)
    with Progress(3) as work:
        work.step("quick")
    time.sleep(0.3)
    assert terminal.getvalue() == ""


def test_patience_ends_after_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    class Timer:
        daemon = False

        def __init__(self, seconds: float, function: object, arguments: object) -> None:
            waits.append(seconds)

        def start(self) -> None: ...
        def cancel(self) -> None: ...

    monkeypatch.setattr(threading, "Timer", Timer)
    with Progress(3) as work:
        work.step("one")
    assert waits == [2.0]


@pytest.mark.parametrize("stderr", [None, object(), "closed", io.StringIO()])
def test_bar_is_not_shown_without_a_terminal(monkeypatch: pytest.MonkeyPatch, stderr: object) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed if stderr == "closed" else stderr)
    assert not at_a_terminal()
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert at_a_terminal()


@pytest.mark.parametrize("observer", [ProgressBar, ProgressLines])
def test_without_a_thread_work_goes_on(
    monkeypatch: pytest.MonkeyPatch, observer: type[ProgressBar | ProgressLines]
) -> None:
    terminal = terminal_of(monkeypatch)
    monkeypatch.setattr(progress_bar, "_INTERVAL", 0.05)

    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with observed(observer()), Progress(3) as work:
        work.step("unseen")
    assert terminal.getvalue() == ""


def test_work_within_work_has_the_screen_while_it_lasts(monkeypatch: pytest.MonkeyPatch, bar: ProgressBar) -> None:
    terminal = terminal_of(monkeypatch)
    with Progress(10) as outer:
        outer.step("outer work")
        wait_until(terminal.shows("outer work"))
        with Progress(100) as inner:
            shown = terminal.shows("inner work")
            inner.reach(50, "inner work")
            wait_until(shown)
            assert [*bar._open] == [outer, inner]
        assert [*bar._open] == [outer]
        shown = terminal.shows("outer goes on")
        outer.step("outer goes on")
        wait_until(shown)


def test_an_inner_bar_of_short_work_leaves_the_outer_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with Progress(10) as outer:
        outer.step("outer work")
        wait_until(terminal.shows("outer work"))
        monkeypatch.setattr(progress_bar, "_PATIENCE", 60.0)
        with Progress(100) as inner:
            inner.reach(50, "inner work")
        shown = terminal.shows("more outer work")
        outer.step("more outer work")
        wait_until(shown)
    assert "inner work" not in terminal.getvalue()


def test_work_that_fails_takes_its_bars_away(monkeypatch: pytest.MonkeyPatch, bar: ProgressBar) -> None:
    terminal = terminal_of(monkeypatch)

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
    assert not bar._open
    size = len(terminal.getvalue())
    time.sleep(0.15)
    assert len(terminal.getvalue()) == size


class TestLines:
    """stderr is a file: a line a minute, of the innermost work."""

    @pytest.fixture(autouse=True)
    def lines(self, bar: ProgressBar) -> Iterator[None]:
        with observed(ProgressLines()):
            yield

    @staticmethod
    def log(monkeypatch: pytest.MonkeyPatch, interval: float = 0.05) -> io.StringIO:
        """Return a file that replaces stderr."""
        file = io.StringIO()
        monkeypatch.setattr(sys, "stderr", file)
        monkeypatch.setattr(progress_bar, "_INTERVAL", interval)
        return file

    def test_long_work_is_logged_again_and_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        log = self.log(monkeypatch)
        with Progress(7) as work:
            work.step("first step")
            wait_until(lambda: log.getvalue().count("first step (1 of 7)") >= 2)
            work.step("second step")
            wait_until(lambda: "second step (2 of 7)" in log.getvalue())
            with Progress(1_500) as inner:
                inner.reach(1_200, "inner work")
                wait_until(lambda: "inner work (1,200 of 1,500)" in log.getvalue())
        lines = log.getvalue()
        time.sleep(0.15)
        assert log.getvalue() == lines
        assert all(line.startswith("after 0 min: ") for line in lines.splitlines())

    def test_minutes_of_several_tasks_add_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        log = self.log(monkeypatch)
        for number in range(8):
            with Progress(1) as work:
                work.step(f"task {number}")
                time.sleep(0.02)
        assert 1 <= len(log.getvalue().splitlines()) <= 4

    def test_first_minute_is_silent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        log = self.log(monkeypatch, 60.0)
        with Progress(1) as work:
            work.step("quick")
            time.sleep(0.1)
        assert log.getvalue() == ""

    def test_interval_is_a_minute(self) -> None:
        assert progress_bar._INTERVAL == 60
