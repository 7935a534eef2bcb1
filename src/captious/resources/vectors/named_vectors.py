"""The user's word vectors, by name or as a file. A name refers to a checksum, and to the original file."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from captious.errors import CaptiousError, MissingExtraError, ParameterError, ResourceError, UnknownNameError, setting
from captious.files.atomic_write import whole_file
from captious.phrases import counted
from captious.resources.cache import cache_folder, expanded, make_folder
from captious.resources.vectors.compiled_vectors import (
    INSTALL,
    VectorFile,
    delete,
    folder,
    index_file,
    is_checksum,
    is_compiled,
    read_json,
)
from captious.resources.vectors.vector_index import VectorIndex

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
                help=f"choose with {setting('vectors', 'NAME')}, or set {VARIABLE}",
            )
        raise MissingExtraError("no word vectors are available", help=_HOW_TO_GET)
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else source
    if not isinstance(name, str):
        raise ParameterError(
            f"{source!r:.80} are not word vectors", help="give a name, a file, or captious.WordVectors"
        )
    if isinstance(source, str) and NAME.fullmatch(name) and (entry := _entry(name)):
        return _entry_vectors(name, entry)
    path = expanded(name, "--vectors")
    if not name or not os.path.exists(path):
        raise UnknownNameError(
            f"{name!r} is neither the name of word vectors nor a file",
            help=f"known names: {', '.join(names()) or '(none)'}. To add vectors: {INSTALL}",
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
            f"{name!r} cannot name word vectors", help="use letters, digits and . - _; begin with a letter or digit"
        )
    checksum = file.checksum()
    previous = {} if replace else _entry(name)
    if previous and previous["checksum"] != checksum:
        raise ParameterError(
            f"the name {name} is taken",
            where=f"it belongs to {previous['path']}, checksum {previous['checksum']}",
            help="choose another name, or use --replace",
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
            help=f"known names: {available}" if available else "no word vectors have been added yet",
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
                help=f"captious vectors add FILE --name {name} --replace",
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
            help=f"captious vectors add FILE --name {name} --replace",
        )
    return entry


def _safe(path: Path) -> str:
    """Return a valid name for a file without one: its own, without extensions."""
    stem = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    return "".join(c if c.isascii() and (c.isalnum() or c in ".-_") else "_" for c in stem) or "file"


def _names_folder() -> Path:
    return folder() / "names"
