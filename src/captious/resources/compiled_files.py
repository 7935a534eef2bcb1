"""Files that are compiled once, by the first process that needs them, and reused by all later ones.

However a build ends (killed, disk full, two at once), it leaves a complete file or none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from captious.errors import OutputError, ResourceError
from captious.files.atomic_write import whole_file
from captious.progress import Progress
from captious.resources.arrays import Arrays, open_arrays, write_arrays
from captious.resources.cache import cache_folder, make_folder

_UNFINISHED = ".captious-*"  # names that `whole_file` gives to incomplete files


def compiled(path: Path, label: str, make: Callable[[Progress], Arrays]) -> Arrays:
    """Return the arrays of a file in the cache, which is compiled unless it exists and is intact.

    Args:
        path: the file. No other resource uses its folder.
        label: identifies the source of the arrays; a file with another label is compiled again.
        make: computes the arrays. It reports its progress in steps out of 100.

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
            for unfinished in path.parent.glob(_UNFINISHED):  # left by a killed process, as this one has the lock
                unfinished.unlink(missing_ok=True)
            new = make(progress)
            with whole_file(path, "wb") as file:
                write_arrays(file, new, label)
        except OutputError as error:
            raise _unusable(path, error.where) from error
        finally:
            lock.release()
    arrays = open_arrays(path, label, note=True)
    return new if arrays is None else arrays


@dataclass(frozen=True)
class ResourceFiles(ABC):
    """Files of a resource found on this machine, and the arrays compiled from them.

    Args:
        origin: how they were found, in human-readable form.
        fingerprint: fingerprint of their content.
    """

    origin: str
    fingerprint: str

    #: Name of the resource, and of its folder in the cache.
    name: ClassVar[str]
    #: Of the compiled file; counts up when its arrays or the way they are looked up change.
    format: ClassVar[int]

    @property
    @abstractmethod
    def label(self) -> str:
        """The files in signatures."""

    @property
    def index(self) -> Path:
        """Path of the compiled file, which need not exist yet."""
        return cache_folder() / self.name / "index" / f"{self.name}-{self.format}-{self.fingerprint}.index"

    @property
    def is_built(self) -> bool:
        """Whether the compiled file exists and is intact."""
        return open_arrays(self.index, self.fingerprint) is not None

    def arrays(self) -> Arrays:
        """Return the content of the compiled file, which is compiled if necessary.

        Raises:
            ResourceError: damaged files, or a cache folder that cannot be used.
        """
        return _compiled_once(self)

    def build(self) -> None:
        """Compile the file, unless it exists and is intact; raises as ``arrays`` does."""
        compiled(self.index, self.fingerprint, self._compile)

    @abstractmethod
    def _compile(self, progress: Progress) -> Arrays: ...


@cache
def _compiled_once(files: ResourceFiles) -> Arrays:
    return compiled(files.index, files.fingerprint, files._compile)


def _unusable(path: Path, reason: str) -> ResourceError:
    return ResourceError(
        f"the cache cannot be written to: {reason}",
        where=str(path),
        help="delete it or free some disk space, or set CAPTIOUS_CACHE to another folder",
    )
