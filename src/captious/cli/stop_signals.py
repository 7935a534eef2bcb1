"""Signals that ask a run to stop: they end it as Ctrl-C does, with nothing half written and the cursor shown."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stoppable() -> Iterator[None]:
    """End the process in an orderly way if it is asked to stop while the block runs, with exit status 128 + signal.

    A second signal of the kind ends it at once. Signals that somebody else handles or ignores (``nohup``) stay so.
    """
    if threading.current_thread() is not threading.main_thread():  # others cannot have handlers
        yield
        return
    defaults = [number for number in _SIGNALS if signal.getsignal(number) == signal.SIG_DFL]
    for number in defaults:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in defaults:
            signal.signal(number, signal.SIG_DFL)


def _stop(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(128 + number)
