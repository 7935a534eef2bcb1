"""The cache folder: downloaded files, and files that are compiled once, among them arrays that processes share."""

from __future__ import annotations

import hashlib
import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, TypeAlias

from numpy.typing import NDArray

from captious.data.prepared import ArrayFile, write_array_file
from captious.errors import CaptionFileError, CaptiousError, OutputError, ResourceError
from captious.files import whole_file
from captious.progress import Progress

if TYPE_CHECKING:
    import sqlite3

# Compiled arrays that processes map into memory and share.
#
# The label of a file identifies the source of the arrays. A file that is damaged or has another label counts as
# missing, and is compiled again.

#: Arrays by name.
Arrays: TypeAlias = dict[str, NDArray[Any]]

_MAGIC = b"CAPTARR3"
_CHECKED = ".checked"  # the name of a file's note ends with it
_SETTLED = 2  # seconds; clocks of file systems are coarse


def write_arrays(file: IO[bytes], arrays: Mapping[str, NDArray[Any]], label: str) -> None:
    """Write arrays.

    Args:
        file: the output file.
        arrays: arrays by name.
        label: identifies their source.
    """
    write_array_file(file, _MAGIC, {"label": label}, arrays)


def open_arrays(path: str | os.PathLike[str], label: str, *, note: bool = False) -> Arrays | None:
    """Return the arrays of a file, read-only and mapped.

    None if there is no such file, if it has another label, or if any byte differs from what ``write_arrays`` writes.

    Args:
        path: the file.
        label: identifies the source of the arrays.
        note: record next to the file that it was checked, and do not check it again until it changes.
    """
    checked = _noted(path) if note else ""
    try:
        file = ArrayFile(path, _MAGIC, what="a file of arrays", help="delete it", check_unless=checked)
        if file.about["label"] != label:
            return None
    except (CaptionFileError, OSError, ValueError, KeyError):
        return None
    if note and checked != file.identity:
        _note(path, file.identity)
    return file.arrays()


def _noted(path: str | os.PathLike[str]) -> str:
    """Return the recorded identity of the checked file; empty if none was checked."""
    with suppress(OSError, ValueError), open(f"{os.fspath(path)}{_CHECKED}", encoding="ascii") as file:
        return file.read(200)
    return ""


def _note(path: str | os.PathLike[str], identity: str) -> None:
    """Record that a file was checked, if possible, unless it might still change unnoticed."""
    with suppress(OSError):
        if time.time() - os.stat(path).st_ctime >= _SETTLED:
            with open(f"{os.fspath(path)}{_CHECKED}", "w", encoding="ascii") as file:
                file.write(identity)


# The cache of downloaded and compiled files: one user folder, never the installed package.


def cache_folder() -> Path:
    """Return ``CAPTIOUS_CACHE`` if it is set, otherwise the system's folder for caches (XDG on Linux)."""
    if chosen := os.environ.get("CAPTIOUS_CACHE", ""):
        return expanded(chosen, "CAPTIOUS_CACHE")
    from platformdirs import user_cache_path

    return user_cache_path("captious", appauthor=False)


def expanded(path: str, variable: str) -> Path:
    """Return the path in an environment variable, with a leading ``~`` resolved.

    Raises:
        ResourceError: there is no home folder for ``~``.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ResourceError(
            f"{variable} does not name a folder: {error}", where=path, hint=f"set {variable} to a valid path"
        ) from error


def make_folder(folder: Path) -> Path:
    """Create a folder of the cache.

    Raises:
        ResourceError: it cannot be created or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
        reason = "" if writable else "it is not writable"
    except OSError as error:
        reason = error.strerror or str(error)
    if reason:
        raise ResourceError(
            f"the cache folder cannot be used: {reason}",
            where=str(folder),
            hint="set CAPTIOUS_CACHE to a writable folder",
        )
    return folder


def is_first_time(message: str) -> bool:
    """Return whether a message is new, and record it in the cache. True if the cache is not writable."""
    note = cache_folder() / "shown" / hashlib.sha256(message.encode()).hexdigest()[:16]
    if note.exists():
        return False
    with suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        note.touch()
    return True


# Document frequencies of COCO's validation images, which are part of the package; see training/learned.

#: Their name for the option --idf.
COCO_VAL = "coco"
#: Their file.
COCO_VAL_FILE = Path(__file__).parent / "coco-val.idf"


# Files that are compiled once, by the first process that needs them, and reused by all later ones.
#
# However a build ends (killed, disk full, two at once), it leaves a complete file or none.

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
        hint="delete it or free some disk space, or set CAPTIOUS_CACHE to another folder",
    )


# SQLite files of one table, whose rows are found by their keys, and which processes share.

_KEYS_PER_QUERY = 500


def opened_table(path: Path, table: str, *, format: int, seconds: float) -> sqlite3.Connection:
    """Open a file, which is created if there is none.

    Args:
        path: the file.
        table: name and columns of its table, ``key`` among them.
        format: counts up when the columns or their content change.
        seconds: how long other processes may write.

    Raises:
        sqlite3.Error: it cannot be used, or has another format.
    """
    import sqlite3

    file = sqlite3.connect(path, timeout=seconds, isolation_level=None)
    try:
        version = file.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            file.execute("PRAGMA auto_vacuum = FULL")
            with changing(file):
                file.execute(f"CREATE TABLE IF NOT EXISTS {table} WITHOUT ROWID")
                file.execute(f"PRAGMA user_version = {format}")
        elif version != format:
            raise sqlite3.DatabaseError("another version of captious wrote it")
    except BaseException:
        file.close()
        raise
    return file


@contextmanager
def changing(file: sqlite3.Connection) -> Iterator[None]:
    """Make the changes of a block all at once, or none of them."""
    file.execute("BEGIN IMMEDIATE")
    with file:
        yield


def rows_of_keys(file: sqlite3.Connection, select: str, keys: Sequence[object]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query, such as "SELECT key, answer FROM answers", that have one of these keys."""
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        some = keys[start : start + _KEYS_PER_QUERY]
        yield from file.execute(f"{select} WHERE key IN ({','.join('?' * len(some))})", some)


# Small JSON files named by users.


def text_as_json(text: str, where: str, help: str, damaged: type[CaptiousError] = ResourceError) -> Any:
    """Parse the document in a text.

    Raises:
        CaptiousError: of the class ``damaged``: it is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(f"this is not JSON: {error}", where=where, hint=help) from error
