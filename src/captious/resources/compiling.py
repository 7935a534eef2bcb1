"""Files that are compiled once, by the first process that needs them, and found by all later ones.

However a build ends (killed, disk full, two at once), what is found afterwards is a complete file or none.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from captious.atomic_write import whole_file
from captious.errors import OutputError, ResourceError
from captious.progress import Progress
from captious.resources.arrays import Arrays, open_arrays, write_arrays
from captious.resources.cache import make_folder

__all__ = ["compiled"]

_UNFINISHED = ".captious-*"  # what `whole_file` calls a file until it is complete


def compiled(path: Path, label: str, make: Callable[[Progress], Arrays]) -> Arrays:
    """The arrays of a file in the cache, which is made unless it exists and is intact.

    Args:
        path: the file. No other resource uses its folder.
        label: what the arrays are made from; a file with another label is made again.
        make: makes the arrays. It reports its progress in steps out of 100.

    Raises:
        ResourceError: the folder or the file in it cannot be used.
    """
    if (arrays := open_arrays(path, label, note=True)) is not None:
        return arrays
    from filelock import FileLock

    make_folder(path.parent)
    with Progress(100) as progress:
        progress.reach(0, f"waiting for another process to create {path.name}")
        lock = FileLock(path.parent / "lock", mode=0o666)  # everyone who shares the folder may build
        try:
            lock.acquire()
        except OSError as error:
            raise _unusable(path.parent / "lock", error.strerror or str(error)) from error
        try:
            if (arrays := open_arrays(path, label, note=True)) is not None:
                return arrays
            for unfinished in path.parent.glob(_UNFINISHED):  # of a process that was killed: no other has the lock
                unfinished.unlink(missing_ok=True)
            made = make(progress)
            with whole_file(path, "wb") as file:
                write_arrays(file, made, label)
        except OutputError as error:
            raise _unusable(path, error.where) from error
        finally:
            lock.release()
    arrays = open_arrays(path, label, note=True)
    return made if arrays is None else arrays


def _unusable(path: Path, reason: str) -> ResourceError:
    return ResourceError(
        f"the cache cannot be written to: {reason}",
        where=str(path),
        help="delete it or free some disk space, or set CAPTIOUS_CACHE to another folder",
    )
