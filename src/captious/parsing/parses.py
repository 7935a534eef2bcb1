"""The parse of a caption, arrays for files of prepared references, and the parses that are kept in the cache folder."""

from __future__ import annotations

import hashlib
import sqlite3
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from captious.data.prepared import text_array, texts_of
from captious.errors import CaptiousWarning, reason
from captious.files import size_setting
from captious.progress import tell
from captious.resources.cache import cache_folder, changing, opened_table, rows_of_keys

Edge: TypeAlias = tuple[int, int, str]
"""A dependency: head, dependent and relation. Words are counted from 1; the head of a root is 0."""


@dataclass(frozen=True, slots=True)
class Parse:
    """A sentence of n words with its dependencies (Universal Dependencies, version 1).

    Args:
        words: n words, from left to right.
        tags: their Penn Treebank parts of speech.
        lemmas: their base forms.
        heads: the number of each word's head in the basic dependencies, which form a tree; 0 for a root.
        relations: the relation of each word to that head.
        collapsed: the dependencies with prepositions folded into relations (``nmod:on``) and conjunctions propagated: a
            graph, in which a word has one or more heads; sorted, the root first, then by dependent and head. Words
            split by conjoined prepositions occur several times: the k-th copy of word w of n has the number ``w + k *
            n``.
        universal: the parts of speech of Universal Dependencies, if the parser provides them.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    lemmas: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    collapsed: tuple[Edge, ...]
    universal: tuple[str, ...] = ()


def check_tree(heads: Sequence[int]) -> None:
    """Refuse heads with a cycle. Words that are not in any dependency count as roots.

    Raises:
        ValueError: names a word in a cycle.
    """
    checked: set[int] = {0}
    for word in range(1, len(heads) + 1):
        path = set()
        while word not in checked:
            if word in path:
                raise ValueError(f"word {word} depends on itself")
            path.add(word)
            word = heads[word - 1]
        checked |= path


_STRINGS = ("words", "tags", "lemmas", "relations", "universal")


def parse_arrays(parses: Sequence[Parse]) -> dict[str, NDArray[Any]]:
    """Return the parses of captions as arrays: the index of each among the distinct ones, and their fields.

    A field holds the values of all parses concatenated, strings as numbers, and the offsets of the parses.
    """
    distinct = {id(parse): parse for parse in parses}
    rows = {key: row for row, key in enumerate(distinct)}
    numbers: dict[str, int] = {}

    def number(text: str) -> int:
        return numbers.setdefault(text, len(numbers))

    arrays: dict[str, NDArray[Any]] = {"rows": np.array([rows[id(parse)] for parse in parses], np.int64)}
    fields = {name: [list(map(number, getattr(parse, name))) for parse in distinct.values()] for name in _STRINGS}
    fields["heads"] = [list(parse.heads) for parse in distinct.values()]
    for name, values in fields.items():
        arrays[name] = np.array([*chain.from_iterable(values)], np.int32)
        arrays[f"{name}_offsets"] = np.cumsum([0, *map(len, values)], dtype=np.int64)
    edges = [parse.collapsed for parse in distinct.values()]
    flat = [(head, dependent, number(relation)) for head, dependent, relation in chain.from_iterable(edges)]
    arrays["edges"] = np.array(flat, np.int32).reshape(-1, 3)
    arrays["edges_offsets"] = np.cumsum([0, *map(len, edges)], dtype=np.int64)
    arrays["strings"] = text_array([*numbers])
    return arrays


class StoredParses(Sequence[Parse]):
    """The parses that ``parse_arrays`` stored, each created on first use.

    Args:
        arrays: the arrays.
        n: number of captions.

    Raises:
        ValueError, KeyError, TypeError: arrays that contradict each other.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], n: int) -> None:
        self._strings = texts_of(arrays["strings"])
        self._fields = {}
        for name in (*_STRINGS, "heads", "edges"):
            values, offsets = arrays[name], arrays[f"{name}_offsets"]
            sound = offsets.ndim == 1 and len(offsets) and offsets[0] == 0 and offsets[-1] == len(values)
            if not sound or (np.diff(offsets) < 0).any():
                raise ValueError(f"{name} that do not fit")
            self._fields[name] = (values, offsets)
        sizes = {len(offsets) for _, offsets in self._fields.values()}
        if len(sizes) != 1 or arrays["edges"].shape[1:] != (3,):
            raise ValueError("fields of different parses")
        self._rows = arrays["rows"]
        if self._rows.shape != (n,) or not 0 <= self._rows.min() <= self._rows.max() < sizes.pop() - 1:
            raise ValueError("not one parse per caption")
        self._parses: dict[int, Parse] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, captions: int) -> Parse: ...
    @overload
    def __getitem__(self, captions: slice) -> Sequence[Parse]: ...
    def __getitem__(self, captions: int | slice) -> Parse | Sequence[Parse]:
        if isinstance(captions, slice):
            return [self._parse(row) for row in self._rows[captions].tolist()]
        return self._parse(int(self._rows[captions]))

    def _parse(self, row: int) -> Parse:
        if row not in self._parses:
            words, tags, lemmas, relations, universal = (
                tuple(map(self._strings.__getitem__, self._values(name, row))) for name in _STRINGS
            )
            edges: tuple[Edge, ...] = tuple(
                (head, dependent, self._strings[relation]) for head, dependent, relation in self._values("edges", row)
            )
            parse = Parse(words, tags, lemmas, tuple(self._values("heads", row)), relations, edges, universal)
            self._parses.setdefault(row, parse)  # two threads get the same object
        return self._parses[row]

    def _values(self, name: str, row: int) -> Any:
        values, offsets = self._fields[name]
        return values[offsets[row] : offsets[row + 1]].tolist()


# Parses of references that are kept in the cache folder, so that later runs need not parse them again.
#
# One SQLite file, which processes share. A parse is found by a hash of its words and of everything else that it depends
# on, and has a checksum of its own. Whatever is wrong with the file or its folder costs only time.

#: The variable of the environment that sets how much is kept; 0 for nothing.
KEPT = "CAPTIOUS_KEPT_PARSES"

_USUAL = 500 << 20  # bytes: about a million captions
_KEPT_FORMAT = 1
_PATIENCE = 10.0  # seconds that other processes may write
_AFTER_CLEARING = 0.75  # of the limit
_CHECK, _DAY = 8, 86_400  # bytes; seconds
_said: set[str] = set()


@dataclass(frozen=True)
class KeptParses:
    """Parses that one parser has made, in the cache folder.

    Args:
        maker: identifies everything that a parse depends on besides its words.
    """

    maker: str

    def find(self, sentences: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], Parse]:
        """Return the parses of the sentences that are kept."""
        found: dict[tuple[str, ...], Parse] = {}
        if not limit() or not kept_file().exists():
            return found
        with _usable(), closing(_opened()) as file:
            sentence_of = {self._key(words): words for words in sentences}
            keys, today, old = [*sentence_of], int(time.time() / _DAY), []
            for key, stored, day in rows_of_keys(file, "SELECT key, parse, day FROM parses", keys):
                if (parse := _restored(key, stored)) is not None:
                    found[sentence_of[key]] = parse
                old += [(today, key)] if day != today else []
            if old:
                with changing(file):
                    file.executemany("UPDATE parses SET day = ? WHERE key = ?", old)
        return found

    def add(self, parses: Mapping[tuple[str, ...], Parse]) -> None:
        """Keep parses of sentences; if they are too many, those that were not used for longest are removed."""
        most = limit()
        if not most or not parses:
            return
        with _usable():
            kept_file().parent.mkdir(parents=True, exist_ok=True)
            today = int(time.time() / _DAY)
            keyed = ((self._key(words), parse) for words, parse in parses.items())
            with closing(_opened()) as file, changing(file):
                rows = ((key, _stored(key, parse), today) for key, parse in keyed)
                file.executemany("INSERT OR REPLACE INTO parses VALUES (?, ?, ?)", rows)
                size = _size(file)
                if size > most:
                    n = file.execute("SELECT count(*) FROM parses").fetchone()[0]
                    too_many = int(n * (1 - _AFTER_CLEARING * most / size)) + 1
                    oldest = "SELECT key FROM parses ORDER BY day LIMIT ?"
                    file.execute(f"DELETE FROM parses WHERE key IN ({oldest})", [too_many])

    def _key(self, words: tuple[str, ...]) -> bytes:
        text = "\n".join((self.maker, *words))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def kept_file() -> Path:
    """Return the file of parses in the cache folder, which need not exist."""
    return cache_folder() / "parses.sqlite"


def limit() -> int:
    """Return how many bytes of parses are kept at most.

    Raises:
        ParameterError: ``CAPTIOUS_KEPT_PARSES`` is not a size.
    """
    return size_setting(KEPT, _USUAL)


def n_kept() -> int:
    """Return the number of parses that are kept; 0 if the file cannot be used."""
    n = 0
    with _usable():
        if kept_file().exists():
            with closing(_opened()) as file:
                n = file.execute("SELECT count(*) FROM parses").fetchone()[0]
    return n


def clear_kept() -> None:
    """Remove all parses that are kept.

    Raises:
        OSError: the file cannot be removed.
    """
    for path in (kept_file(), kept_file().with_name("parses.sqlite-journal")):
        path.unlink(missing_ok=True)


@contextmanager
def _usable() -> Iterator[None]:
    """Do without parses that cannot be read or kept, and say so once. A damaged file is removed."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            with suppress(OSError):
                clear_kept()
            return
        why = reason(error) if isinstance(error, OSError) else error
        line = f"the parses of references cannot be kept for later runs: {kept_file()}: {why}"
        if line not in _said:
            _said.add(line)
            if not tell(line):
                warnings.warn(line, CaptiousWarning, stacklevel=3)


def _opened() -> sqlite3.Connection:
    table = "parses (key BLOB PRIMARY KEY, parse BLOB, day INTEGER)"
    return opened_table(kept_file(), table, format=_KEPT_FORMAT, seconds=_PATIENCE)


def _size(file: sqlite3.Connection) -> int:
    pages, size = (file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return int(pages) * int(size)


def _stored(key: bytes, parse: Parse) -> bytes:
    """Return a parse as bytes that begin with their checksum: six lines, whose values have a blank between them."""
    edges = (str(value) for edge in parse.collapsed for value in edge)
    lines = (parse.words, parse.tags, parse.lemmas, map(str, parse.heads), parse.relations, edges)
    content = "\n".join(map(" ".join, lines)).encode("utf-8", "surrogatepass")
    return _checksum(key, content) + content


def _restored(key: bytes, stored: object) -> Parse | None:
    """Return the parse; None if it is damaged."""
    if not isinstance(stored, bytes) or stored[:_CHECK] != _checksum(key, stored[_CHECK:]):
        return None
    lines = stored[_CHECK:].decode("utf-8", "surrogatepass").split("\n")
    words, tags, lemmas, heads, relations, edges = (tuple(line.split(" ")) if line else () for line in lines)
    if not len(words) == len(tags) == len(lemmas) == len(heads) == len(relations):
        return None
    collapsed = zip(map(int, edges[::3]), map(int, edges[1::3]), edges[2::3], strict=True)
    return Parse(words, tags, lemmas, tuple(map(int, heads)), relations, tuple(collapsed))


def _checksum(key: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(key + content, digest_size=_CHECK).digest()
