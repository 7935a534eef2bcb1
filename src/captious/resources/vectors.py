"""The user's word vectors: compiled once into the cache folder, and found by name, file or checksum."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from captious.errors import (
    CaptiousError,
    MissingExtraError,
    OutputError,
    ParameterError,
    ResourceError,
    UnknownNameError,
    option,
    setting,
)
from captious.files import whole_file
from captious.progress import Progress
from captious.resources.cache import Arrays, cache_folder, compiled, expanded, make_folder, open_arrays
from captious.resources.vector_files import (
    PIECE,
    DuplicateWordError,
    VectorFileError,
    VectorIndex,
    index_of,
    opened,
    source_of,
)
from captious.words import counted, shortened

# A compiled file of word vectors, in a folder that is named by a checksum of its content.
#
# The checksum is that of the uncompressed content, so a file that was moved, renamed or compressed is not compiled
# again.

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


# The user's word vectors, by name or as a file. A name refers to a checksum, and to the original file.

#: The environment variable that names the default.
VARIABLE = "CAPTIOUS_VECTORS"

#: The names that vectors may have.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_HOW_TO_GET = (
    f"{INSTALL} (GloVe, word2vec, fastText, gensim KeyedVectors or numpy; GloVe vectors are at "
    "https://nlp.stanford.edu/projects/glove, fastText vectors at https://fasttext.cc)"
)


@dataclass(frozen=True, eq=False)
class NamedVectors:
    """Vectors under the name that signatures show.

    Args:
        name: their name.
        checksum: checksum of their content.
        index: looks up words.
        origin: human-readable origin.
    """

    name: str
    checksum: str
    index: VectorIndex
    origin: str


@cache
def _opened(name: str, checksum: str, file: VectorFile, cached_in: Path) -> NamedVectors:
    return NamedVectors(name, checksum, file.compiled(checksum), str(file.path))


def find(source: str | os.PathLike[str] | None = None) -> NamedVectors:
    """Return vectors by name or from a file; None for the default.

    Raises:
        MissingExtraError: there are no vectors at all.
        ParameterError: there are several, and no default is set.
        UnknownNameError: neither a known name nor a file.
        ResourceError: a problem with the file, with the line; or the cache folder cannot be used.
    """
    if source is None:
        source = default()
    if source is None:
        if available := names():
            raise ParameterError(
                "several word vectors are available",
                where=f"available: {', '.join(available)}",
                hint=f"choose with {setting('vectors', 'NAME')}, or set {VARIABLE}",
            )
        raise MissingExtraError("no word vectors are available", hint=_HOW_TO_GET)
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else source
    if not isinstance(name, str):
        raise ParameterError(
            f"{shortened(source)} are not word vectors", hint="give a name, a file, or captious.WordVectors"
        )
    if isinstance(source, str) and NAME.fullmatch(name) and (entry := _entry(name)):
        return _entry_vectors(name, entry)
    path = expanded(name, "--vectors")
    if not name or not os.path.exists(path):
        raise UnknownNameError(
            f"{name!r} is neither the name of word vectors nor a file",
            hint=f"known names: {', '.join(names()) or '(none)'}. To add vectors: {INSTALL}",
        )
    file = VectorFile(path)
    return _opened(_safe(path), file.checksum(), file, cache_folder())


def default() -> str | None:
    """Return the default: the vectors named by the environment variable, or the only ones that were added."""
    if name := os.environ.get(VARIABLE, ""):
        return name
    available = names()
    return available[0] if len(available) == 1 else None


def names() -> list[str]:
    """Return all names, in order."""
    return sorted(path.stem for path in _names_folder().glob("*.json") if NAME.fullmatch(path.stem))


def add(file: VectorFile, name: str, *, replace: bool = False) -> NamedVectors:
    """Compile a file and give it a name.

    Args:
        name: name for settings and signatures, of letters, digits, dots, hyphens and underscores.
        replace: reassign a name that is already taken, and compile the file again.

    Raises:
        ParameterError: a name that is invalid or taken.
        ResourceError: a problem with the file, with the line; or the cache folder cannot be used.
    """
    if not NAME.fullmatch(name):
        raise ParameterError(
            f"{name!r} cannot name word vectors", hint="use letters, digits and . - _; begin with a letter or digit"
        )
    checksum = file.checksum()
    previous = {} if replace else _entry(name)
    if previous and previous["checksum"] != checksum:
        raise ParameterError(
            f"the name {name} is taken",
            where=f"it belongs to {previous['path']}, checksum {previous['checksum']}",
            hint=f"choose another name, or give {option('replace')}",
        )
    if replace:  # also what is compiled already, which may be damaged
        index_file(checksum).unlink(missing_ok=True)
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
    """Remove a name, and delete its compiled files unless another name refers to the same vectors.

    Raises:
        UnknownNameError: no vectors have this name.
    """
    if name not in names():
        available = ", ".join(names())
        raise UnknownNameError(
            f"no word vectors are named {name!r}",
            hint=f"known names: {available}" if available else "no word vectors have been added yet",
        )
    file = _names_folder() / f"{name}.json"
    try:
        checksum = str(_entry(name)["checksum"])
    except CaptiousError:  # a damaged file of a name
        checksum = ""
    file.unlink(missing_ok=True)
    checksums = (read_json(path).get("checksum") for path in _names_folder().glob("*.json"))
    if checksum and checksum not in checksums:
        delete(checksum)


def describe(name: str) -> tuple[str, str]:
    """Return the state of named vectors (compiled, found, missing or damaged), and a description."""
    try:
        entry = _entry(name)
    except ResourceError as error:
        return "damaged", error.where
    contents = f"{counted(entry['words'], 'word')} x {entry['width']}, {entry['checksum'][:8]}, from {entry['path']}"
    if entry["subwords"]:
        contents = f"{contents}, subwords"
    if is_compiled(str(entry["checksum"])):
        return "compiled", contents
    return ("found" if os.path.isfile(entry["path"]) else "missing"), contents


def _entry_vectors(name: str, entry: dict[str, Any]) -> NamedVectors:
    vocabulary = None if entry["vocabulary"] is None else Path(entry["vocabulary"])
    file = VectorFile(Path(entry["path"]), vocabulary, bool(entry["subwords"]), bool(entry["keep_first"]))
    checksum = str(entry["checksum"])
    if describe(name)[0] != "compiled":
        try:
            is_unchanged = file.checksum() == checksum
        except CaptiousError:
            is_unchanged = False
        if not is_unchanged:
            raise ResourceError(
                f"the word vectors {name} are no longer in the cache, and their source is missing or has changed",
                where=entry["path"],
                hint=f"captious vectors add FILE --name {name} --replace",
            )
    return _opened(name, checksum, file, cache_folder())


def _entry(name: str) -> dict[str, Any]:
    """Return the entry of a name; empty if there is no such name.

    Raises:
        ResourceError: the file of the name is damaged.
    """
    path = _names_folder() / f"{name}.json"
    if not os.path.isfile(path):
        return {}
    entry = read_json(path)
    types = {"words": int, "width": int, "path": str, "vocabulary": str | None, "subwords": bool, "keep_first": bool}
    sound = all(key in entry and isinstance(entry[key], of) for key, of in types.items())
    if not sound or not is_checksum(entry.get("checksum")):
        raise ResourceError(
            f"the entry of the word vectors {name} is damaged",
            where=str(path),
            hint=f"captious vectors add FILE --name {name} --replace",
        )
    return entry


def _safe(path: Path) -> str:
    """Return a valid name for a file without one: its own, without extensions."""
    stem = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    return "".join(c if c.isascii() and (c.isalnum() or c in ".-_") else "_" for c in stem) or "file"


def _names_folder() -> Path:
    return folder() / "names"
