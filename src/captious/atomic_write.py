"""Writing files so that they appear whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from captious.errors import OutputError

__all__ = ["check_place", "whole_file"]


@contextmanager
def whole_file(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file beside `path` and put it in place when the block ends well; otherwise leave no trace.

    Links are followed. A pipe or device is written to as it is.

    Raises:
        OutputError: the place cannot be written to.
    """
    import tempfile  # with what it imports it takes megabytes, which scoring alone need not pay

    target = check_place(path)
    encoding = None if "b" in mode else "utf-8"
    newline = None if "b" in mode else ""
    if target.exists() and not target.is_file():
        try:
            with open(target, mode, encoding=encoding, errors=_errors(mode), newline=newline) as file:
                yield file
        except OSError as error:
            raise _cannot(path, error) from error
        return
    try:
        handle, name = tempfile.mkstemp(prefix=".captious-", dir=target.parent)
    except OSError as error:
        raise _cannot(path, error) from error
    try:
        with open(handle, mode, encoding=encoding, errors=_errors(mode), newline=newline) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # even after a power cut, whole means whole
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    except OSError as error:
        raise _cannot(path, error) from error
    finally:
        if os.path.exists(name):
            os.unlink(name)


def _errors(mode: str) -> str | None:
    """Names of files need not be UTF-8; what is written is."""
    return None if "b" in mode else "replace"


def check_place(path: str | os.PathLike[str]) -> Path:
    """Where a file would be written, links followed; a place that cannot be written to is refused before any work.

    Raises:
        OutputError: a folder, or a file in a folder that does not exist or cannot be written to.
    """
    try:
        target = Path(path)
        if target.exists() and not target.is_file() and not target.is_dir():
            return target  # a pipe or device, which may have no other name
        target = target.resolve()
        if target.is_dir():
            raise OutputError(f"cannot write {path}", where="it is a folder", help="name a file")
    except OSError as error:
        raise _cannot(path, error) from error
    except RuntimeError:  # a loop of links
        raise OutputError(f"cannot write {path}", where="the link leads to itself", help="name another file") from None
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK | os.X_OK):
        raise OutputError(
            f"cannot write {path}",
            where=f"{target.parent} is not a folder that can be written to",
            help="name a file in a folder that exists and is yours",
        )
    return target


def _cannot(path: str | os.PathLike[str], error: OSError) -> OutputError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    help = "make room on the disk" if full else "name another file"
    return OutputError(f"cannot write {path}", where=error.strerror or str(error), help=help)
