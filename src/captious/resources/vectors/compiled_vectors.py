"""A file of word vectors, compiled once into the cache folder under a checksum of its content.

The checksum is that of the uncompressed content, so a file that was moved, renamed or compressed is not compiled again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from captious.errors import OutputError, ResourceError
from captious.files.atomic_write import whole_file
from captious.progress import Progress
from captious.resources.arrays import Arrays, open_arrays
from captious.resources.cache import cache_folder, make_folder
from captious.resources.compiled_files import compiled
from captious.resources.vectors.vector_files import source_of
from captious.resources.vectors.vector_index import DuplicateWordError, VectorIndex, index_of
from captious.resources.vectors.vector_source import PIECE, VectorFileError, opened

#: The command that adds word vectors.
INSTALL = "captious vectors add FILE --name NAME"

_FORMAT = 1  # version of compiled files; increase it when the arrays or the rows change
_DIGITS = 16
_SMALL = 1 << 24  # bytes that are read quickly


@dataclass(frozen=True)
class VectorFile:
    """A file of word vectors with options for reading.

    Args:
        path: the file.
        vocabulary: the words of a .npy file, one per line.
        subwords: compute vectors of unknown words from the character n-grams of a fastText .bin file.
        keep_first: keep the first of duplicate words, which are otherwise an error.
    """

    path: Path
    vocabulary: Path | None = None
    subwords: bool = False
    keep_first: bool = False

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that belong to it."""
        companion = self.path.parent / f"{self.path.name}.vectors.npy"  # where gensim puts large arrays
        companions = (self.vocabulary, companion if os.path.isfile(companion) else None)
        return self.path, *(path for path in companions if path is not None)

    def checksum(self) -> str:
        """Return sixteen hexadecimal digits of the SHA-256 of the uncompressed content and the options.

        Large files that have not changed since (size, time, inode number) are not read again.

        Raises:
            ResourceError: a file that cannot be read, or a damaged one.
        """
        stamp = self._stamp()
        place = hashlib.sha256(json.dumps([str(self.path.absolute()), *self._options]).encode()).hexdigest()
        note = folder() / "checksums" / f"{place[:_DIGITS]}.json"
        noted = read_json(note)
        if noted.get("stamp") == stamp and is_checksum(noted.get("checksum")):
            return str(noted["checksum"])
        checksum = self._summed()
        if sum(size for size, *_ in stamp) < _SMALL:
            return checksum
        try:
            make_folder(note.parent)
            with whole_file(note) as file:
                json.dump({"file": str(self.path), "stamp": stamp, "checksum": checksum}, file)
        except (OutputError, ResourceError):
            pass  # without write access to the cache, the file is read every time
        return checksum

    def compiled(self, checksum: str) -> VectorIndex:
        """Return the vectors, compiled if necessary.

        Raises:
            ResourceError: a problem with the file, with the line; or the cache folder cannot be used.
        """
        arrays = compiled(index_file(checksum), checksum, lambda progress: self._compile(checksum, progress))
        if not _rows_fit(checksum, arrays):  # the file of rows was deleted or truncated
            index_file(checksum).unlink(missing_ok=True)
            arrays = compiled(index_file(checksum), checksum, lambda progress: self._compile(checksum, progress))
        return _mapped(checksum, arrays)

    @property
    def _options(self) -> list[object]:
        vocabulary = None if self.vocabulary is None else str(self.vocabulary.absolute())
        return [vocabulary, self.subwords, self.keep_first]

    def _stamp(self) -> list[list[int]]:
        try:
            states = [os.stat(path) for path in self.files]
        except (OSError, ValueError) as error:
            raise VectorFileError(getattr(error, "strerror", None) or str(error)).as_resource_error(
                self.path
            ) from error
        return [[state.st_size, state.st_mtime_ns, state.st_ino] for state in states]

    def _summed(self) -> str:
        digest = hashlib.sha256(f"{self.subwords:d}{self.keep_first:d}".encode())
        for path in self.files:
            size = max(1, path.stat().st_size)
            with opened(path) as (file, raw), Progress(100) as progress:
                while piece := file.read(PIECE):
                    digest.update(piece)
                    progress.reach(100 * raw.tell() // size, f"reading {path.name}")
            digest.update(b"\0")
        return digest.hexdigest()[:_DIGITS]

    def _compile(self, checksum: str, progress: Progress) -> Arrays:
        stamp, size = self._stamp(), max(1, self.path.stat().st_size)
        scratch = index_file(checksum).parent
        with source_of(self.path, self.vocabulary, self.subwords, scratch) as (source, raw):

            def tell() -> None:
                progress.reach(min(99, 100 * raw.tell() // size), f"compiling {self.path.name} (once)")

            tell()
            try:
                with whole_file(_rows(checksum), "wb") as out:
                    arrays = index_of(
                        source.blocks, subwords=source.subwords, keep_first=self.keep_first, out=out, tell=tell
                    )
                    if not len(arrays["rows"]):
                        raise VectorFileError("it contains no words")
            except DuplicateWordError as error:
                raise VectorFileError(
                    f"{error.word!r} is a duplicate of the word at {source.place(error.first)}",
                    f"remove the duplicate, or keep the first of each: {INSTALL} --keep-first",
                    place=source.place(error.second),
                ) from error
            if self._stamp() != stamp:
                raise VectorFileError("the file changed while it was read", "try again when it is complete")
        return {**arrays, "width": np.array([source.width], np.int64)}


def is_checksum(value: object) -> bool:
    """Return whether this could be a checksum."""
    return isinstance(value, str) and re.fullmatch(rf"[0-9a-f]{{{_DIGITS}}}", value) is not None


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; an empty one if there is no file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def is_compiled(checksum: str) -> bool:
    """Return whether the vectors with this checksum are in the cache, complete."""
    arrays = open_arrays(index_file(checksum), checksum)
    return arrays is not None and _rows_fit(checksum, arrays)


def delete(checksum: str) -> None:
    """Delete the files compiled under a checksum."""
    for file in (index_file(checksum), _rows(checksum)):
        file.unlink(missing_ok=True)


def folder() -> Path:
    """Return the folder of everything about vectors."""
    return cache_folder() / "vectors"


def index_file(checksum: str) -> Path:
    """Return the index file of a checksum, which holds everything except the vectors themselves."""
    return folder() / "index" / f"vectors-{_FORMAT}-{checksum}.index"


def _rows(checksum: str) -> Path:
    return index_file(checksum).with_suffix(".rows")


def _rows_fit(checksum: str, arrays: Arrays) -> bool:
    try:
        size = _rows(checksum).stat().st_size
    except OSError:
        return False
    return size == len(arrays["sums"]) * int(arrays["width"][0]) * 4


def _mapped(checksum: str, arrays: Arrays) -> VectorIndex:
    shape = len(arrays["sums"]), int(arrays["width"][0])
    return VectorIndex(arrays, np.memmap(_rows(checksum), "<f4", "r", 0, shape))
