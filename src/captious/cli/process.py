"""The process of a command: standard streams, terminal, and termination by signals.

Failing to write results is an error, failing to write messages is not. A signal that stops a run has the effect of
Ctrl-C: no file is left half-written and the cursor is shown.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from types import FrameType
from typing import TextIO

from captious.errors import OutputError
from captious.files import advice
from captious.progress import observed

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


def prepare_streams() -> None:
    """Replace ``sys.stdout`` and ``sys.stderr`` by streams that report or ignore write errors.

    Streams that others have replaced are kept; characters that they cannot encode become question marks.
    """
    for descriptor in (0, 1, 2):
        _occupy(descriptor)
    if sys.stdout is sys.__stdout__:
        sys.stdout = _prepared(sys.stdout, _Results)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _prepared(sys.stderr, _Messages)


def _occupy(descriptor: int) -> None:
    """Occupy the descriptor of a closed stream, so that no file opened later receives its output."""
    try:
        os.fstat(descriptor)
    except OSError:
        nothing = os.open(os.devnull, os.O_RDONLY)  # so that writing fails as it does on what is closed
        if nothing == descriptor:
            os.set_inheritable(nothing, True)
        else:
            os.dup2(nothing, descriptor)
            os.close(nothing)


class _Messages(io.RawIOBase):
    """A standard stream that discards its output after the first error.

    Args:
        file: its file; None if it was closed before captious began.
    """

    def __init__(self, file: io.FileIO | None) -> None:
        super().__init__()
        self._file = file
        self._is_lost = False

    def write(self, data: object) -> int:
        content = memoryview(data)  # type: ignore[arg-type]  # every kind of buffer
        if not self._is_lost:
            try:
                if self._file is None:
                    raise OSError(errno.EBADF, "standard output is closed")
                return self._file.write(content)
            except OSError as error:
                self._is_lost = True
                self._lose(error)
        return content.nbytes

    def _lose(self, error: OSError) -> None:
        """Do nothing; called at the first error."""

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._file is not None and self._file.isatty()

    def fileno(self) -> int:
        return super().fileno() if self._file is None else self._file.fileno()


class _Results(_Messages):
    """Standard output, whose first error is an error of the run; callers handle a reader that has gone."""

    def _lose(self, error: OSError) -> None:
        if isinstance(error, BrokenPipeError):
            raise error
        raise OutputError(
            "cannot write the results",
            where=error.strerror or str(error),
            hint=advice(error) or "redirect the output, or write to a file (-o FILE)",
        ) from error


def _prepared(stream: TextIO | None, kind: type[_Messages]) -> TextIO:
    file, encoding, errors = None, "utf-8", "replace"
    if stream is not None:
        if not isinstance(stream, io.TextIOWrapper):
            return stream
        stream.flush()
        file = io.FileIO(stream.fileno(), "wb", closefd=False)
        encoding = stream.encoding
        if stream.errors not in ("strict", "surrogateescape"):  # the user has set it
            errors = stream.errors or errors
    raw = kind(file)
    is_prompt = kind is _Messages or raw.isatty()
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=is_prompt)


def at_a_terminal() -> bool:
    """Return whether stderr is a terminal. Daemons may have closed or replaced it."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, OSError, ValueError):
        return False


@contextmanager
def silenced() -> Iterator[None]:
    """Discard messages and show no progress while the block runs."""
    with io.TextIOWrapper(io.BufferedWriter(_Messages(None))) as nowhere, redirect_stderr(nowhere), observed(None):
        yield


@contextmanager
def stoppable() -> Iterator[None]:
    """Handle signals that stop the process while the block runs: end it in order, with exit status 128 + signal.

    A second signal of the same kind ends it at once. Signals that others handle or ignore (``nohup``) are not changed.
    """
    if threading.current_thread() is not threading.main_thread():  # other threads cannot set handlers
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
