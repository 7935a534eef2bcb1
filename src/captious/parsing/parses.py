"""The parse of a caption, and the arrays in which files of prepared references store parses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from captious.data.prepared import text_array, texts_of

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
