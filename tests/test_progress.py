"""Progress: what an observer is told of work, and of work within work; silence without one."""

from __future__ import annotations

import threading

import pytest

from captious.progress import Progress, observed, steps
from tests.support.observers import Events


def test_progress_is_silent_by_default(capfd: pytest.CaptureFixture[str]) -> None:
    before = threading.active_count()
    with Progress(3) as progress:
        progress.step("first")
        assert (progress.total, progress.done, progress.what) == (3, 1, "first")
        progress.reach(3, "last")
        assert (progress.done, progress.what) == (3, "last")
        assert threading.active_count() == before
    assert capfd.readouterr() == ("", "")


def test_steps_are_observed() -> None:
    events = Events()
    with observed(events), Progress(5) as progress:
        progress.step("first")
        progress.step("second")
        progress.reach(4, "far")
    # When a step begins, those before it are done.
    assert events.seen == [("begin", 5), ("first", 0), ("second", 1), ("far", 4), ("end", 5)]
    assert events.works == [progress]


def test_work_within_work() -> None:
    events = Events()
    with observed(events), Progress(2) as outer:
        outer.step("outer")
        with Progress(10) as inner:
            inner.reach(7, "inner")
        outer.step("outer again")
    assert events.seen == [
        *[("begin", 2), ("outer", 0)],
        *[("begin", 10), ("inner", 7), ("end", 10)],
        *[("outer again", 1), ("end", 2)],
    ]


def test_items_count_as_steps() -> None:
    events = Events()
    with observed(events), steps(["a", "b"], lambda item: f"reading {item}") as named:
        assert list(named) == ["a", "b"]
    assert events.seen == [("begin", 2), ("reading a", 0), ("reading b", 1), ("end", 2)]
    with observed(events), steps([], str) as nothing:
        assert list(nothing) == []
    assert events.seen[-2:] == [("begin", 0), ("end", 0)]


def test_a_step_begins_when_its_item_is_taken() -> None:
    events = Events()
    with observed(events), steps([1, 2], str) as numbers:
        for number in numbers:
            assert events.steps[-1] == str(number)
            assert len(events.steps) == number


def test_work_that_fails_ends() -> None:
    events = Events()

    def work() -> None:
        with Progress(10) as outer, steps([1, 2, 3], str) as numbers:
            outer.step("outer")
            for number in numbers:
                if number == 2:
                    raise ValueError("failed")

    with observed(events), pytest.raises(ValueError, match="failed") as caught:
        work()
    assert events.seen[-3:] == [("2", 1), ("end", 3), ("end", 10)]
    assert not hasattr(caught.value, "__notes__")


def test_work_that_is_left_early_ends() -> None:
    events = Events()
    with observed(events), steps([1, 2, 3], str) as numbers:
        for _ in numbers:
            break
    assert events.seen == [("begin", 3), ("1", 0), ("end", 3)]


def test_an_observer_is_of_its_block_only() -> None:
    outer, inner = Events(), Events()
    with observed(outer):
        with observed(inner), Progress(1):
            pass
        with observed(None), Progress(2):
            pass
        with Progress(3):
            pass
    with Progress(4):
        pass
    assert outer.seen == [("begin", 3), ("end", 3)]
    assert inner.seen == [("begin", 1), ("end", 1)]


def test_an_observer_sees_work_to_its_end() -> None:
    events = Events()
    progress = Progress(2)
    with observed(events):
        progress.__enter__()
    progress.step("later")
    progress.__exit__(None, None, None)
    assert events.seen == [("begin", 2), ("later", 0), ("end", 2)]


def test_other_threads_have_their_own_observer() -> None:
    events = Events()

    def work() -> None:
        with Progress(9) as progress:
            progress.step("elsewhere")

    with observed(events):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert events.seen == []


@pytest.mark.parametrize("observer", [None, Events()], ids=["silent", "observed"])
def test_memory_that_runs_out_is_noted_with_the_innermost_step(observer: Events | None) -> None:
    with observed(observer), pytest.raises(MemoryError) as caught, Progress(3) as outer:
        outer.step("scoring")
        with Progress(100) as inner:
            inner.step("compiling")
            raise MemoryError
    assert caught.value.__notes__ == ["during: compiling"]


def test_memory_that_runs_out_among_items() -> None:
    with pytest.raises(MemoryError) as caught, Progress(3) as outer:
        outer.step("scoring")
        with steps(["a", "b", "c"], lambda item: f"reading {item}") as named:
            for item in named:
                if item == "b":
                    raise MemoryError
    assert caught.value.__notes__ == ["during: reading b"]


def test_memory_that_runs_out_before_any_step_is_the_outer_works() -> None:
    with pytest.raises(MemoryError) as caught, Progress(3) as outer:
        outer.step("scoring")
        with Progress(100):
            raise MemoryError
    assert caught.value.__notes__ == ["during: scoring"]
