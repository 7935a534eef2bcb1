"""Long lists of objects in JSON documents, of which a few fields are read without building the objects."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from captious.native import json_columns, json_outline


class JsonRecords(Sequence[Any]):
    """The objects of a list; they are built when one other than the first is asked for.

    Args:
        data: the document.
        start, end: where the list is.
        first_end: where its first object ends.
        size: how many there are, at least one.
    """

    def __init__(self, data: bytes, start: int, end: int, first_end: int, size: int) -> None:
        self._data, self._start, self._end, self._size = data, start, end, size
        self._first = json.loads(data[start + 1 : first_end])

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: Any) -> Any:
        return self._first if place == 0 else self._objects[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._objects)

    @cached_property
    def _objects(self) -> list[Any]:
        objects: list[Any] = json.loads(self._data[self._start : self._end])
        return objects

    def columns(self, names: Sequence[str]) -> list[list[Any]] | None:
        """The values of fields, each for all objects; None if one is missing, or is neither text nor an integer."""
        return json_columns(self._data, self._start, self._end, tuple(names))


def outlined(data: bytes) -> dict[str, Any] | JsonRecords | None:
    """A document with its lists of objects as ``JsonRecords``.

    None if it has no such list, or if it is for Python's parser to read or to refuse.

    Args:
        data: UTF-8, with or without a byte order mark.
    """
    outline = json_outline(data, len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0)
    if outline is None or not any(size for *_, size in outline):
        return None
    document: dict[str, Any] = {}
    for key, start, end, first_end, size in outline:
        value = JsonRecords(data, start, end, first_end, size) if size else json.loads(data[start:end])
        if key is None:
            return value
        document[key] = value
    return document


def columns_of(records: Sequence[Any], names: Sequence[str]) -> list[list[Any]]:
    """The values of fields, each for all records.

    Raises:
        KeyError: a record lacks one.
        TypeError: what should be a record is something else.
    """
    columns = records.columns(names) if isinstance(records, JsonRecords) else None
    return [[record[name] for record in records] for name in names] if columns is None else columns
