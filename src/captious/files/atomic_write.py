"""Atomic file writes: a file appears complete, or does not appear.

A file is written under a temporary name in its folder, and renamed when it is complete. Until then its writer holds a
lock on it, which the kernel releases if the process dies. Temporary files without a lock are thus left over from killed
processes; the next writer into the folder removes them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from captious.errors import OutputError, reason

_ADVICE = {
    errno.ENOSPC: "free some disk space",
    errno.EDQUOT: "free some disk space",
    errno.EFBIG: "raise the file size limit (ulimit -f), or write less",
}


def is_pipe_or_device(path: str | os.PathLike[str]) -> bool:
    """Return whether this is a pipe or device, which has no content of its own, or a folder, which cannot be written
    to.
    """
    return os.path.exists(path) and not os.path.isfile(path)


@contextmanager
def whole_file(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file in the folder of `path`, and move it into place if the block succeeds.

    Otherwise it is removed. A file that is replaced keeps its owner and permissions; a new one follows the umask. Links
    are followed. Pipes and devices are written to directly.

    Raises:
        OutputError: the place cannot be written to.
    """
    target = check_place(path)
    try:
        if is_pipe_or_device(target):
            with _opened(target, mode) as file:
                yield file
            return
        replaced = target.stat() if target.exists() else None
        permissions = 0o666 if replaced is None else stat.S_IMODE(replaced.st_mode) & 0o777
        _remove_leftovers(target.parent)
        temporary, descriptor = _created(target.parent, permissions | 0o600)
        try:
            with _opened(descriptor, mode) as file:
                yield file
                file.flush()
                if replaced is not None:
                    with suppress(OSError):  # only the administrator may give files away
                        os.fchown(descriptor, replaced.st_uid, replaced.st_gid)
                    os.fchmod(descriptor, permissions)
                os.fsync(descriptor)  # so that a file that exists is complete, even after a power cut
                os.replace(temporary, target)  # while the lock is held, no process removes it
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise _cannot(path, error) from error


def _opened(file: Path | int, mode: str) -> IO[Any]:
    if "b" in mode:
        return open(file, mode)
    # Names of files need not be UTF-8; what is written is.
    return open(file, mode, encoding="utf-8", errors="replace", newline="")


def _prefix() -> str:
    """Return the prefix of this machine's temporary files. Locks need not be visible on other machines."""
    return f".captious-{zlib.crc32(os.uname().nodename.encode()):08x}-"


def _created(folder: Path, permissions: int) -> tuple[Path, int]:
    """Create a temporary file with a lock on it, and return it with its descriptor."""
    while True:
        path = folder / f"{_prefix()}{os.urandom(4).hex()}"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, permissions)
        except FileExistsError:
            continue
        with suppress(OSError):  # on file systems without locks, nothing is removed
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)  # another process took the lock first and removed the file


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files of killed processes from a folder where possible."""
    with suppress(OSError):
        for path in folder.glob(f"{_prefix()}*"):
            with suppress(OSError):
                descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()
                finally:
                    os.close(descriptor)


def check_place(path: str | os.PathLike[str]) -> Path:
    """Return where a file would be written, with links followed. Check early that it can be.

    Raises:
        OutputError: a folder, or a file in a folder that does not exist or cannot be written to.
    """
    try:
        target = Path(path)
        if is_pipe_or_device(target) and not target.is_dir():
            return target  # a pipe or device, which may have no other name
        target = Path(os.path.realpath(target))
        if target.is_symlink():  # a loop of links, which has no end
            raise OutputError(f"cannot write {path}", where="the link points to itself", help="name another file")
        if target.is_dir():
            raise OutputError(f"cannot write {path}", where="it is a folder", help="name a file")
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise _cannot(path, error) from error
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK | os.X_OK):
        raise OutputError(
            f"cannot write {path}",
            where=f"{target.parent} is not a writable folder",
            help="name a file in a folder that exists and is writable",
        )
    return target


def advice(error: OSError) -> str:
    """Return the remedy for an output that cannot be written; empty if only another output helps."""
    return _ADVICE.get(error.errno or 0, "")


def _cannot(path: str | os.PathLike[str], error: OSError | ValueError) -> OutputError:
    help = (advice(error) if isinstance(error, OSError) else "") or "name another file"
    return OutputError(f"cannot write {path}", where=reason(error), help=help)
