"""Locations of records in JSON documents: in a list, in lists by split or class, in the events of videos.

Each class has a method ``first`` for the first record, by which layouts are recognized (None if the document has
another shape), and a method ``all`` for all records with their names in messages: a unit, and a number or name for
each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from captious.data.ids import ImageId
from captious.data.reading.json_files import JsonRecords

_LISTS = (list, JsonRecords)
_Document: TypeAlias = Mapping[Any, Any]
#: A unit, the number of each record, the records.
_Numbered: TypeAlias = tuple[str, Sequence[ImageId], Sequence[Any]]


class DocumentRecords(Protocol):
    """A location of records in a document."""

    def first(self, document: _Document) -> Mapping[Any, Any] | None:
        """Return the first record; None if there is none."""
        ...

    def all(self, document: _Document) -> _Numbered:
        """Return all records of a document that has a first one."""
        ...


def first_of(values: object) -> Mapping[Any, Any] | None:
    """Return the first item of a list if it is an object."""
    first = values[0] if isinstance(values, _LISTS) and values else None
    return first if isinstance(first, Mapping) else None


@dataclass(frozen=True)
class Listed:
    """``{key: [record, ...]}``.

    Args:
        key: key of the list.
        once_for: a field with lists; further records of an image with the same value are left out.
    """

    key: str
    once_for: str = ""

    def first(self, document: _Document) -> Mapping[Any, Any] | None:
        return first_of(document.get(self.key))

    def all(self, document: _Document) -> _Numbered:
        records: Sequence[Any] = document[self.key]
        numbers: Sequence[int] = range(1, len(records) + 1)
        if self.once_for:
            numbers = [*self._once(records)]
            records = [records[number - 1] for number in numbers]
        return self.key.removesuffix("s"), numbers, records

    def _once(self, records: Sequence[Any]) -> Iterator[int]:
        keys: set[str] = set()
        for number, record in enumerate(records, 1):
            key = repr((record.get("image_id"), record.get(self.once_for))) if isinstance(record, Mapping) else ""
            if not key or key not in keys:
                yield number
            keys.add(key)


@dataclass(frozen=True)
class ListsByKey:
    """``{"train": [record, ...], "test": [...]}``; the key becomes a field of its records.

    Args:
        field: name of that field: "split", "class".
        keys: the keys that are allowed; any if empty.
    """

    field: str
    keys: tuple[str, ...] = ()

    def first(self, document: _Document) -> Mapping[Any, Any] | None:
        if self.keys and not document.keys() <= {*self.keys}:
            return None
        filled = next((values for values in document.values() if values != []), None)
        first = first_of(filled)
        return first if all(isinstance(values, _LISTS) for values in document.values() if first is not None) else None

    def all(self, document: _Document) -> _Numbered:
        numbers, records = [], []
        for key, values in document.items():
            numbers += [f"{key}[{place}]" for place in range(len(values))]
            records += [{self.field: key, **value} if isinstance(value, Mapping) else value for value in values]
        return "record", numbers, records


@dataclass(frozen=True)
class DenseCaptions:
    """``{video: {"timestamps": [[start, end], ...], "sentences": [...]}}``, or as results are written,
    ``{"results": {video: [{"sentence", "timestamp": [start, end]}, ...]}}``.

    An event is named by its video and its seconds: ``v_uqiMw7tQ1Cc[0.28-55.15]``.

    Args:
        paragraphs: one record per video, with its sentences joined by spaces; otherwise one per event.
    """

    paragraphs: bool = False

    def first(self, document: _Document) -> Mapping[Any, Any] | None:
        first = next(iter(_videos(document).values()), None)
        if isinstance(first, Mapping):
            are_there = {"timestamps", "sentences"} <= first.keys()
        else:
            are_there = "results" in document and {"timestamp", "sentence"} <= (first_of(first) or {}).keys()
        captions = {"paragraph": ""} if self.paragraphs else {"event": "", "timestamp": None, "sentence": ""}
        return {"video": "", **captions} if are_there else None

    def all(self, document: _Document) -> _Numbered:
        numbers: list[ImageId] = []
        records: list[Any] = []
        for video, value in _videos(document).items():
            events = [*_events(value)]
            if self.paragraphs:
                sentences = [sentence for _, sentence in events if isinstance(sentence, str)]
                numbers.append(video)
                paragraph = " ".join(sentences) if len(sentences) == len(events) else None
                records.append({"video": video, "paragraph": paragraph})
                continue
            for place, (seconds, sentence) in enumerate(events):
                numbers.append(f"{video}[{place}]")
                name = None if seconds is None else f"{video}[{seconds}]"
                records.append({"video": video, "event": name, "timestamp": seconds, "sentence": sentence})
        return "video" if self.paragraphs else "event", numbers, records


def _videos(document: _Document) -> _Document:
    """Return the captions of each video in a document of dense captions."""
    results = document.get("results")
    return results if isinstance(results, Mapping) else document


def _events(value: object) -> Iterator[tuple[str | None, object]]:
    """Return seconds and sentence of each event of a video, with None for what is not there."""
    pairs: list[tuple[object, object]] = []
    if isinstance(value, Mapping):
        times, sentences = value.get("timestamps"), value.get("sentences")
        if isinstance(times, list) and isinstance(sentences, list) and len(times) == len(sentences):
            pairs = [*zip(times, sentences, strict=True)]
        else:
            pairs = [(None, None)]
    elif isinstance(value, list):
        pairs = [
            (event.get("timestamp"), event.get("sentence")) if isinstance(event, Mapping) else (None, None)
            for event in value
        ]
    for times, sentence in pairs:
        if isinstance(times, list) and len(times) == 2 and all(isinstance(time, int | float) for time in times):
            yield f"{times[0]:.2f}-{times[1]:.2f}", sentence
        else:
            yield None, sentence
