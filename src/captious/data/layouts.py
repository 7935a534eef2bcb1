"""Layouts of published data sets, and where their records are in JSON documents.

``layouts.toml`` is the only list of them: it is used to recognize files, to name the nearest layout in errors, and to
generate the table in docs/input-formats.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import not_
from pathlib import Path
from typing import Any, Literal, TypeAlias

from captious.data import harness_logs
from captious.data.formats import JsonRecords
from captious.data.harness_logs import Answer
from captious.data.ids import ImageId
from captious.errors import UnknownNameError
from captious.files import tables
from captious.plugins import choices

# Locations of records in JSON documents: in a list, in lists by split or class, in the events of videos.
#
# Each class has a method ``first`` for the first record, by which layouts are recognized (None if the document has
# another shape), and a method ``all`` for all records with their names in messages: a unit, and a number or name for
# each.

_LISTS = (list, JsonRecords)
_Document: TypeAlias = Mapping[Any, Any]
#: A unit, the number of each record, the records.
_Numbered: TypeAlias = tuple[str, Sequence[ImageId], Sequence[Any]]


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


#: A location of records in a document.
DocumentRecords: TypeAlias = Listed | ListsByKey | DenseCaptions


# Layouts, and their recognition.


@dataclass(frozen=True)
class Parents:
    """A list of images or videos to which records refer.

    Args:
        key: key of the list in the document.
        id: field of their ids.
        reference: field of records that holds such an id.
    """

    key: str
    id: str
    reference: str


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A layout of captions, and which parts of it are read.

    Args:
        name: name in messages and the documentation.
        files: published files.
        fields: fields that the first record must have; "a|b" is one of the two.
        ids: fields of which the first one present holds the id; "a+b" joins fields by "_".
        captions: fields that hold captions, only one of which may be present; "raw raw_#" is raw, raw_1, raw_2, ...
        records: location of the records in a JSON document; None for a list or table of them.
        keys: keys that the document must have.
        parents: a list of images that the document may have.
        split: the field of the split.
        splits_apart: whether one of several splits must be chosen.
        conditions: by field, the condition on rows to read.
        absent: fields that it does not have.
        on_request: read it only if ``--columns`` names its captions.
        key: if fields of captions hold objects, the key of the captions in them.
        answer: for logs, the function that reads a record.
        has_references: whether a log has references beside its answers.
        numbers_images: whether images of a log that occur twice are told apart by their position.
        of: what has captions: images, videos or sounds.
        note: an addition for the documentation.
    """

    name: str
    files: str
    fields: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    records: DocumentRecords | None = None
    keys: tuple[str, ...] = ()
    parents: Parents | None = None
    split: str = "split"
    splits_apart: bool = True
    conditions: Mapping[str, Callable[[Any], bool]] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    on_request: bool = False
    key: str = ""
    answer: Callable[[Mapping[str, Any]], Answer] | None = None
    has_references: bool = False
    numbers_images: bool = False
    of: Literal["image", "video", "sound"] = "image"
    note: str = ""

    @property
    def option(self) -> str:
        """Its name as a value of options: lower case, with hyphens."""
        return self.name.lower().replace(" ", "-")

    def missing(self, names: Sequence[object]) -> list[str]:
        """Return the fields that a record lacks, formatted for messages."""
        choices = [name.split("|") for name in self.fields]
        lacking = [" or ".join(map(repr, choice)) for choice in choices if not any(name in names for name in choice)]
        if self.ids and not any(fields_of(name, names) for name in self.ids):
            lacking.append(" or ".join(map(repr, self.ids)))
        if not any(fields_of(name, names) for name in self.captions):
            lacking.append(" or ".join(repr(name.split()[0].replace("#", "1")) for name in self.captions))
        return [*dict.fromkeys(lacking)]

    def fits(self, names: Sequence[object]) -> bool:
        """Return whether a record with fields of these names has this layout."""
        return not self.missing(names) and not any(name in names for name in self.absent)


def fields_of(caption: str, names: Collection[object]) -> tuple[str, ...]:
    """Expand a field into the fields that it stands for: itself, several that are joined ("id+start"), or numbered ones
    ("caption_#", "raw raw_#"), of which the first must be present. None if one is missing.
    """
    joined = tuple(caption.split("+"))
    if caption not in names and all(name in names for name in joined):
        return joined
    if "#" not in caption:
        return (caption,) if caption in names else ()
    first, *_ = words = caption.split()
    pattern = re.compile("|".join(re.escape(word).replace(r"\#", r"\d+") for word in words))
    fields = tuple(name for name in names if isinstance(name, str) and pattern.fullmatch(name))
    return fields if "#" in first or first in fields else ()


def _records(keys: dict[str, Any]) -> DocumentRecords:
    """Return the location of records that the file describes."""
    if "dense" in keys:
        return DenseCaptions(paragraphs=keys["dense"] == "paragraphs")
    if "lists_by" in keys:
        return ListsByKey(keys["lists_by"], tuple(keys.get("keys", ())))
    return Listed(keys["listed"], keys.get("once_for", ""))


def _condition(value: str | bool) -> Callable[[Any], bool]:
    if isinstance(value, str):
        return value.__eq__
    return bool if value else not_


#: How keys of the file are read that hold neither text nor a list.
_READ: Mapping[str, Callable[[Any], Any]] = {
    "records": _records,
    "parents": lambda keys: Parents(**keys),
    "conditions": lambda keys: {name: _condition(value) for name, value in keys.items()},
    "answer": lambda name: getattr(harness_logs, name),
}


LAYOUTS: tuple[Layout, ...] = tuple(
    Layout(name=name, **{key: _READ[key](value) if key in _READ else value for key, value in fields.items()})
    for name, fields in tables(Path(__file__).with_suffix(".toml")).items()
)
COCO = LAYOUTS[0]
#: Rows in no layout, with fields under the usual names.
USUAL = Layout(name="rows with the usual names", files="", splits_apart=False)
#: The layouts by the names that options take.
BY_OPTION: Mapping[str, Layout] = {layout.option: layout for layout in LAYOUTS}


def layout_named(name: str) -> Layout:
    """Return the layout of a name, whatever its case.

    Raises:
        UnknownNameError: there is none.
    """
    layout = BY_OPTION.get(name.lower().replace(" ", "-").replace("_", "-"))
    if layout is None:
        hint = choices(name, BY_OPTION, "the layouts are")
        raise UnknownNameError(f"there is no layout {name!r}", hint=hint)
    return layout


#: Fields that many files have, which say nothing about a layout.
_COMMON = {"caption", "captions", "image", "image_id", "file_name", "id", "split", "text", "report", "video_id"}


def document_layouts(document: Mapping[Any, Any]) -> list[Layout]:
    """Return the layouts that a JSON object fits, without those that others refine."""
    layouts = []
    for layout in LAYOUTS:
        if layout.records is not None and all(key in document for key in layout.keys):
            first = layout.records.first(document)
            if first is not None and layout.fits([*first]):
                layouts.append(layout)
    return _most_precise(layouts)


def row_layouts(names: Sequence[object]) -> list[Layout]:
    """Return the layouts that a row with these fields fits, without those that others refine."""
    rows = (layout for layout in LAYOUTS if layout.records is None and layout.answer is None)
    return _most_precise([layout for layout in rows if layout.fits(names)])


def _most_precise(layouts: Sequence[Layout]) -> list[Layout]:
    return [one for one in layouts if not any({*one.fields} < {*rival.fields} for rival in layouts)]


def nearest_layout(
    names: Sequence[object], document: Mapping[Any, Any] | None = None
) -> tuple[Layout, list[str]] | None:
    """Return the nearest layout of a row or a document, and what it lacks; None if none is near.

    Args:
        names: field names of the row.
        document: the document, in which case the names are ignored.
    """
    near: list[tuple[float, Layout, list[str]]] = []
    for layout in LAYOUTS:
        if layout.on_request or layout.answer is not None or (layout.records is None) != (document is None):
            continue
        keys: list[str] = []
        if document is not None:
            keys = [f'"{key}"' for key in layout.keys if not _has_records(document, key)]
            first = layout.records.first(document) if layout.records is not None and not keys else None
            names = [] if first is None else [*first]
        missing = layout.missing(names)
        known_names = {*layout.fields, *(part for name in layout.ids for part in name.split("+"))}
        known_names |= {name for caption in layout.captions for name in (fields_of(caption, names) or (caption,))}
        telling = [name for name in known_names - _COMMON if name in names]
        telling += [key for key in layout.keys if document is not None and f'"{key}"' not in keys]
        if document is not None and layout.parents is not None and _has_records(document, layout.parents.key):
            telling.append(layout.parents.key)
            parent = first_of(document[layout.parents.key]) or {}
            telling += [layout.parents.id] if layout.parents.id in parent else []
        if telling and not any(name in names for name in layout.absent):
            near.append((len(telling) - len(keys + missing) / 8, layout, keys or missing))
    if not near:
        return None
    _, layout, missing = max(near, key=lambda entry: entry[0])
    return (layout, missing) if missing else None


def _has_records(document: Mapping[Any, Any], key: str) -> bool:
    value = document.get(key)
    return first_of(value) is not None or (isinstance(value, Mapping) and bool(value))
