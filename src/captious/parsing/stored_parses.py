"""Parses as arrays, as files of prepared references keep them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from captious.data.storing import text_array, texts_of
from captious.parsing.parse import Edge, Parse

__all__ = ["KnownParses", "ParsesOfRows", "StoredParses", "parse_arrays"]

_STRINGS = ("words", "tags", "lemmas", "relations", "universal")


def parse_arrays(parses: Sequence[Parse]) -> dict[str, NDArray[Any]]:
    """Parses as arrays: every field of all parses back to back, strings by number, and where each parse begins."""
    numbers: dict[str, int] = {}

    def number(text: str) -> int:
        return numbers.setdefault(text, len(numbers))

    arrays: dict[str, NDArray[Any]] = {}
    for name in _STRINGS:
        values = [getattr(parse, name) for parse in parses]
        arrays[name] = np.array([*map(number, chain.from_iterable(values))], np.int32)
        arrays[f"{name}_offsets"] = _offsets(values)
    heads = [parse.heads for parse in parses]
    arrays["heads"] = np.array([*chain.from_iterable(heads)], np.int32)
    arrays["heads_offsets"] = _offsets(heads)
    edges = [parse.collapsed for parse in parses]
    flat = [(head, dependent, number(relation)) for head, dependent, relation in chain.from_iterable(edges)]
    arrays["edges"] = np.array(flat, np.int32).reshape(-1, 3)
    arrays["edges_offsets"] = _offsets(edges)
    arrays["strings"] = text_array([*numbers])
    return arrays


def _offsets(values: Sequence[Sequence[object]]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, values)], dtype=np.int64)


class StoredParses:
    """Parses that were stored, each made when it is first asked for.

    Args:
        arrays: what ``parse_arrays`` made.

    Raises:
        ValueError, KeyError, TypeError: arrays that contradict each other.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._strings = texts_of(arrays["strings"])
        self._fields = {}
        for name in (*_STRINGS, "heads", "edges"):
            values, offsets = arrays[name], arrays[f"{name}_offsets"]
            sound = offsets.ndim == 1 and len(offsets) and offsets[0] == 0 and offsets[-1] == len(values)
            if not sound or (np.diff(offsets) < 0).any():
                raise ValueError(f"{name} that do not fit")
            self._fields[name] = (values, offsets)
        if len({len(offsets) for _, offsets in self._fields.values()}) != 1 or arrays["edges"].shape[1:] != (3,):
            raise ValueError("fields of different parses")
        self._made: dict[int, Parse] = {}

    def __len__(self) -> int:
        return len(self._fields["words"][1]) - 1

    def __getitem__(self, number: int) -> Parse:
        if number not in self._made:
            words, tags, lemmas, relations, universal = (self._texts(name, number) for name in _STRINGS)
            heads = tuple(self._values("heads", number))
            edges: tuple[Edge, ...] = tuple(
                (head, dependent, self._strings[relation])
                for head, dependent, relation in self._values("edges", number)
            )
            # setdefault: should two threads ask at once, both get the same object.
            self._made.setdefault(number, Parse(words, tags, lemmas, heads, relations, edges, universal))
        return self._made[number]

    def _values(self, name: str, number: int) -> list[Any]:
        values, offsets = self._fields[name]
        found: list[Any] = values[offsets[number] : offsets[number + 1]].tolist()
        return found

    def _texts(self, name: str, number: int) -> tuple[str, ...]:
        return tuple(map(self._strings.__getitem__, self._values(name, number)))


class ParsesOfRows(Sequence[Parse]):
    """The stored parse of each caption.

    Args:
        parses: the distinct ones.
        rows: int64[n_captions], which of them each caption has.
    """

    def __init__(self, parses: StoredParses, rows: NDArray[np.int64]) -> None:
        self._parses, self._rows = parses, rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, captions: int) -> Parse: ...
    @overload
    def __getitem__(self, captions: slice) -> Sequence[Parse]: ...
    def __getitem__(self, captions: int | slice) -> Parse | Sequence[Parse]:
        if isinstance(captions, slice):
            return [self._parses[row] for row in self._rows[captions].tolist()]
        return self._parses[int(self._rows[captions])]


class KnownParses(Mapping[bytes, Parse]):
    """Stored parses by the bytes of the ids of their words.

    Args:
        parses: the parses.
        rows: the parse of each caption.
        ids, offsets: words of the captions, as of ``captious.text.Tokens``.
    """

    def __init__(
        self, parses: StoredParses, rows: NDArray[np.int64], ids: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> None:
        content = ids.tobytes()
        bounds = (offsets * ids.itemsize).tolist()
        keys = (content[start:end] for start, end in pairwise(bounds))
        self._rows = dict(zip(keys, rows.tolist(), strict=True))
        self._parses = parses

    def __getitem__(self, key: bytes) -> Parse:
        return self._parses[self._rows[key]]

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)
