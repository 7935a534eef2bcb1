"""Writing files so that they appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from captious.errors import OutputError

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file beside `path` and put it in place when the block ends well; otherwise leave no trace.

    Raises:
        OutputError: the place cannot be written to.
    """
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise OutputError(
            f"cannot write {target}", where=error.strerror or str(error), help="name a file in a folder that exists"
        ) from error
    try:
        encoding = None if "b" in mode else "utf-8"
        with open(handle, mode, encoding=encoding, newline=None if encoding is None else "") as file:
            yield file
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    except OSError as error:
        raise OutputError(
            f"cannot write {target}", where=error.strerror or str(error), help="is the disk full?"
        ) from error
    finally:
        if os.path.exists(name):
            os.unlink(name)
