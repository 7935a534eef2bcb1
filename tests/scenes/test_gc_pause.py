"""The pause of garbage collection ends when the last thread leaves it, in whatever order threads enter and leave."""

from __future__ import annotations

import gc
import os
import threading

import pytest

from captious.scenes.layers import gc_pause


def test_nested_pauses_keep_collection_off() -> None:
    with gc_pause:
        with gc_pause:
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_overlapping_pauses_of_threads_end_in_any_order() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with gc_pause:
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with gc_pause:
        thread.start()
        inside.wait(10)
    assert not gc.isenabled()
    leave.set()
    thread.join(10)
    assert gc.isenabled()


def test_pause_keeps_disabled_collection_off() -> None:
    gc.disable()
    try:
        with gc_pause:
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_pause_ends_with_an_error() -> None:
    with pytest.raises(ZeroDivisionError), gc_pause:
        raise ZeroDivisionError
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="not here: no fork")
def test_forked_process_collects_garbage() -> None:
    with gc_pause:
        child = os.fork()
        if child == 0:
            with gc_pause:
                inside = gc.isenabled()
            os._exit(0 if gc.isenabled() and not inside else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
