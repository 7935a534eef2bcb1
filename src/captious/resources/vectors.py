"""The user's word vectors, by name or as a file, compiled once into the cache folder.

Compiled vectors are kept under a checksum of the file's unpacked content, so that a file that was moved, renamed or
compressed is not compiled again. A name stands for such a checksum, and remembers the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from captious.atomic_write import whole_file
from captious.errors import (
    CaptiousError,
    MissingExtraError,
    OutputError,
    ParameterError,
    ResourceError,
    UnknownNameError,
)
from captious.progress import Progress
from captious.resources.arrays import Arrays, open_arrays
from captious.resources.cache import cache_folder, expanded, make_folder
from captious.resources.compiling import compiled
from captious.resources.vector_files import source_of
from captious.resources.vector_index import DuplicateWordError, VectorIndex, index_of
from captious.resources.vector_source import PIECE, Source, broken, opened

__all__ = [
    "INSTALL",
    "NAME",
    "VARIABLE",
    "NamedVectors",
    "VectorFile",
    "add",
    "default",
    "describe",
    "find",
    "names",
    "remove",
]

#: The command that adds word vectors.
INSTALL = "captious vectors add FILE --name NAME"
#: The environment variable that names the default.
VARIABLE = "CAPTIOUS_VECTORS"

_FORMAT = 1  # of what is compiled; counts up when the arrays or the rows change
#: What vectors may be called.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DIGITS = 16
_SMALL = 1 << 24  # bytes that are read quickly
_HOW_TO_GET = (
    f"{INSTALL} (GloVe, word2vec, fastText, gensim KeyedVectors or numpy; GloVe vectors are at "
    "https://nlp.stanford.edu/projects/glove, fastText vectors at https://fasttext.cc)"
)


@dataclass(frozen=True)
class VectorFile:
    """A file of word vectors, and how it is read.

    Args:
        path: the file.
        vocabulary: the words of a .npy file, one on a line.
        subwords: vectors of unknown words are made of character n-grams, which the file must have.
        keep_first: take the first occurrence of a duplicate word, which is otherwise an error.
    """

    path: Path
    vocabulary: Path | None = None
    subwords: bool = False
    keep_first: bool = False

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that belongs to it."""
        companion = self.path.parent / f"{self.path.name}.vectors.npy"  # where gensim puts large arrays
        others = (self.vocabulary, companion if os.path.isfile(companion) else None)
        return self.path, *(path for path in others if path is not None)

    def checksum(self) -> str:
        """Sixteen hexadecimal digits of the SHA-256 of the unpacked content and of how it is read.

        Large files that have not changed since (size, time, inode number) are not read again.

        Raises:
            ResourceError: a file that cannot be read, or a damaged one.
        """
        stamp = self._stamp()
        place = hashlib.sha256(json.dumps([str(self.path.absolute()), *self._options]).encode()).hexdigest()
        note = _folder() / "checksums" / f"{place[:_DIGITS]}.json"
        known = _read_json(note)
        if known.get("stamp") == stamp and _is_checksum(known.get("checksum")):
            return str(known["checksum"])
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
        """The vectors, compiled if necessary.

        Raises:
            ResourceError: what is wrong with the file, with the line; or the cache folder cannot be used.
        """
        arrays = compiled(_index(checksum), checksum, lambda progress: self._compile(checksum, progress))
        if not _rows_fit(checksum, arrays):  # the file of rows was deleted or truncated
            _index(checksum).unlink(missing_ok=True)
            arrays = compiled(_index(checksum), checksum, lambda progress: self._compile(checksum, progress))
        return _mapped(checksum, arrays)

    @property
    def _options(self) -> list[object]:
        vocabulary = None if self.vocabulary is None else str(self.vocabulary.absolute())
        return [vocabulary, self.subwords, self.keep_first]

    def _stamp(self) -> list[list[int]]:
        try:
            found = [os.stat(path) for path in self.files]
        except (OSError, ValueError) as error:
            raise broken(self.path, "", getattr(error, "strerror", None) or str(error)) from error
        return [[each.st_size, each.st_mtime_ns, each.st_ino] for each in found]

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
        scratch = _index(checksum).parent
        with source_of(self.path, self.vocabulary, self.subwords, scratch) as (source, raw):

            def tell() -> None:
                progress.reach(min(99, 100 * raw.tell() // size), f"compiling {self.path.name} (once)")

            tell()
            with whole_file(_rows(checksum), "wb") as out, self._duplicates_told(source):
                arrays = index_of(
                    source.blocks, subwords=source.subwords, keep_first=self.keep_first, out=out, tell=tell
                )
                if not len(arrays["rows"]):
                    raise broken(self.path, "", "it contains no words")
        if self._stamp() != stamp:
            raise broken(self.path, "", "the file changed while it was read", "try again when it is complete")
        return {**arrays, "width": np.array([source.width], np.int64)}

    @contextmanager
    def _duplicates_told(self, source: Source) -> Iterator[None]:
        try:
            yield
        except DuplicateWordError as error:
            raise broken(
                self.path,
                source.place(error.second),
                f"{error.word!r} is a duplicate of the word at {source.place(error.first)}",
                f"remove the duplicate, or keep the first of each: {INSTALL} --keep-first",
            ) from error


@dataclass(frozen=True, eq=False)
class NamedVectors:
    """Vectors under the name that signatures show.

    Args:
        name: of the vectors.
        checksum: of their content.
        index: what looks words up.
        origin: where they were found, for people.
    """

    name: str
    checksum: str
    index: VectorIndex
    origin: str


@cache
def _opened(name: str, checksum: str, file: VectorFile, cached_in: Path) -> NamedVectors:
    return NamedVectors(name, checksum, file.compiled(checksum), str(file.path))


def find(what: str | os.PathLike[str] | None = None) -> NamedVectors:
    """Vectors by name or from a file; None for the default.

    Raises:
        MissingExtraError: there are no vectors at all.
        ParameterError: there are several, and no default is set.
        UnknownNameError: neither a name that is known nor a file.
        ResourceError: what is wrong with the file, with the line; or the cache folder cannot be used.
    """
    if what is None:
        what = default()
    if what is None:
        if there := names():
            raise ParameterError(
                "several word vectors are available",
                where=f"there are {', '.join(there)}",
                help=f"--vectors NAME (vectors=NAME in Python), or set {VARIABLE}",
            )
        raise MissingExtraError("no word vectors are available", help=_HOW_TO_GET)
    text = os.fspath(what) if isinstance(what, str | os.PathLike) else what
    if not isinstance(text, str):
        raise ParameterError(f"{what!r:.80} are not word vectors", help="give a name, a file, or captious.WordVectors")
    if isinstance(what, str) and NAME.fullmatch(text) and (entry := _entry(text)):
        return _of_entry(text, entry)
    path = expanded(text, "--vectors")
    if not text or not os.path.exists(path):
        known = ", ".join(names()) or "none yet"
        raise UnknownNameError(
            f"{text!r} is neither the name of word vectors nor a file", help=f"names are: {known}; {INSTALL}"
        )
    file = VectorFile(path)
    return _opened(_safe(path), file.checksum(), file, cache_folder())


def default() -> str | None:
    """The default: what the environment variable names, or the only vectors that were added."""
    if chosen := os.environ.get(VARIABLE, ""):
        return chosen
    known = names()
    return known[0] if len(known) == 1 else None


def names() -> list[str]:
    """Names that were given, in order."""
    return sorted(path.stem for path in _names_folder().glob("*.json") if NAME.fullmatch(path.stem))


def add(file: VectorFile, name: str, *, replace: bool = False) -> NamedVectors:
    """Compile a file and give it a name.

    Args:
        replace: give the name to this file even if it stands for another, and compile the file again.

    Raises:
        ParameterError: a name that is not valid, or is taken.
        ResourceError: what is wrong with the file, with the line; or the cache folder cannot be used.
    """
    if not NAME.fullmatch(name):
        raise ParameterError(
            f"{name!r} cannot name word vectors", help="use letters, digits and . - _; begin with a letter or digit"
        )
    checksum = file.checksum()
    before = {} if replace else _entry(name)
    if before and before["checksum"] != checksum:
        raise ParameterError(
            f"the name {name} is taken",
            where=f"it belongs to {before['path']}, checksum {before['checksum']}",
            help="choose another name, or use --replace",
        )
    if replace:  # even if it is compiled already, because that may be damaged
        _index(checksum).unlink(missing_ok=True)
    index = file.compiled(checksum)
    entry = {
        "checksum": checksum,
        "words": len(index),
        "width": index.width,
        "path": str(file.path.absolute()),
        "vocabulary": None if file.vocabulary is None else str(file.vocabulary.absolute()),
        "subwords": file.subwords,
        "keep_first": file.keep_first,
    }
    make_folder(_names_folder())
    with whole_file(_names_folder() / f"{name}.json") as out:
        json.dump(entry, out, indent=1)
    return NamedVectors(name, checksum, index, str(file.path))


def remove(name: str) -> None:
    """Forget a name, and delete what was compiled for it unless another name stands for the same vectors.

    Raises:
        UnknownNameError: no vectors have this name.
    """
    if name not in names():
        raise UnknownNameError(
            f"no word vectors are named {name!r}", help=f"the names are {', '.join(names()) or 'none yet'}"
        )
    file = _names_folder() / f"{name}.json"
    try:
        checksum = str(_entry(name)["checksum"])
    except CaptiousError:  # a damaged file of a name
        checksum = ""
    file.unlink(missing_ok=True)
    others = (_read_json(path).get("checksum") for path in _names_folder().glob("*.json"))
    if checksum and checksum not in others:
        for compiled_file in (_index(checksum), _rows(checksum)):
            compiled_file.unlink(missing_ok=True)


def describe(name: str) -> tuple[str, str]:
    """State of named vectors (compiled, found, missing or damaged), and what they are."""
    try:
        entry = _entry(name)
    except ResourceError as error:
        return "damaged", error.where
    what = f"{entry['words']:,} words x {entry['width']}, {entry['checksum'][:8]}, from {entry['path']}"
    if entry["subwords"]:
        what = f"{what}, subwords"
    checksum = str(entry["checksum"])
    arrays = open_arrays(_index(checksum), checksum)
    if arrays is not None and _rows_fit(checksum, arrays):
        return "compiled", what
    return ("found" if os.path.isfile(entry["path"]) else "missing"), what


def _of_entry(name: str, entry: dict[str, Any]) -> NamedVectors:
    vocabulary = None if entry["vocabulary"] is None else Path(entry["vocabulary"])
    file = VectorFile(Path(entry["path"]), vocabulary, bool(entry["subwords"]), bool(entry["keep_first"]))
    checksum = str(entry["checksum"])
    if describe(name)[0] != "compiled":
        try:
            same = file.checksum() == checksum
        except CaptiousError:
            same = False
        if not same:
            raise ResourceError(
                f"the word vectors {name} are no longer in the cache, and their source is missing or has changed",
                where=entry["path"],
                help=f"captious vectors add FILE --name {name} --replace",
            )
    return _opened(name, checksum, file, cache_folder())


def _entry(name: str) -> dict[str, Any]:
    """What a name stands for; nothing if there is no such name.

    Raises:
        ResourceError: the file of the name is damaged.
    """
    path = _names_folder() / f"{name}.json"
    if not os.path.isfile(path):
        return {}
    entry = _read_json(path)
    types = {"words": int, "width": int, "path": str, "vocabulary": str | None, "subwords": bool, "keep_first": bool}
    sound = all(key in entry and isinstance(entry[key], of) for key, of in types.items())
    if not sound or not _is_checksum(entry.get("checksum")):
        raise ResourceError(
            f"the entry of the word vectors {name} is damaged",
            where=str(path),
            help=f"captious vectors add FILE --name {name} --replace",
        )
    return entry


def _is_checksum(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(rf"[0-9a-f]{{{_DIGITS}}}", value) is not None


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _safe(path: Path) -> str:
    """The name of a file that has none: its own, without extensions."""
    stem = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    return "".join(c if c.isascii() and (c.isalnum() or c in ".-_") else "_" for c in stem) or "file"


def _folder() -> Path:
    return cache_folder() / "vectors"


def _names_folder() -> Path:
    return _folder() / "names"


def _index(checksum: str) -> Path:
    return _folder() / "index" / f"vectors-{_FORMAT}-{checksum}.index"


def _rows(checksum: str) -> Path:
    return _index(checksum).with_suffix(".rows")


def _rows_fit(checksum: str, arrays: Arrays) -> bool:
    try:
        size = _rows(checksum).stat().st_size
    except OSError:
        return False
    return size == len(arrays["sums"]) * int(arrays["width"][0]) * 4


def _mapped(checksum: str, arrays: Arrays) -> VectorIndex:
    shape = len(arrays["sums"]), int(arrays["width"][0])
    return VectorIndex(arrays, np.memmap(_rows(checksum), "<f4", "r", 0, shape))
