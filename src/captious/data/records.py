"""Records of captions: the fields or columns that hold ids and captions, and the shapes in which they come."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, count
from typing import Any, Literal

from captious.data.formats import columns_of, record_batches
from captious.data.harness_logs import Answer
from captious.data.ids import IdForm, spelled_otherwise
from captious.data.layouts import (
    BY_OPTION,
    COCO,
    LAYOUTS,
    USUAL,
    Layout,
    document_layouts,
    fields_of,
    first_of,
    nearest_layout,
    row_layouts,
)
from captious.data.rows import CaptionRows, Entries, Role, Source, caption_rows
from captious.errors import CaptionFileError, InputError, MissingReferencesError, UnknownNameError, either, option
from captious.words import counted, counted_of, sample_of, shortened

# Choice of the fields or columns that hold ids and captions: named by the user, by a layout, or the usual ones.

#: Names of one group contradict each other; otherwise the first group with one that is there wins.
_Names = tuple[tuple[str, ...], ...]

ID_FIELDS: _Names = (("image_id",), ("image",), ("video_id", "file_name", "filename", "id"))
_CAPTIONS = ("caption", "captions", "report")
# One file may hold candidates and references side by side.
TEXT_FIELDS: dict[Role, _Names] = {
    "candidates": (("candidate", "candidates", "prediction", "predictions", "caption_predicted"), _CAPTIONS),
    "references": (
        ("references", "refs", "reference_#", "reference#", "ref_#", "ref#", "caption_reference_#"),
        _CAPTIONS,
    ),
    "groups": (("group",),),
    "objects": (("objects",), ("references", "refs"), _CAPTIONS),
}

#: Names of the index that pandas writes beside the columns.
_INDEX = re.compile(r"(?:Unnamed: \d+|__index_level_\d+__)?")

#: Names of columns that only captions of sounds have, in the challenges of DCASE.
_OF_SOUNDS = ("caption_predicted", "caption_reference_")


@dataclass(frozen=True)
class Fields:
    """The fields of rows to read.

    Args:
        ids: fields of the id, joined by "_" if there are several.
        texts: fields of captions, each holding a caption or a list of captions.
        paths: for each field of ``ids`` and ``texts``, the path of its values in objects and lists; "" without one.
        split: the field with the split of a row, if it matters.
        conditions: by field, the condition on rows to read.
        splits_apart: whether one of several splits must be chosen.
        of: what has captions.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    paths: tuple[str, ...]
    split: str | None = None
    conditions: Mapping[str, Callable[[Any], bool]] = field(default_factory=dict)
    splits_apart: bool = False
    of: str = "image"

    @property
    def names(self) -> tuple[str, ...]:
        """All fields, in the order in which ``rows_of_columns`` expects their values."""
        return (*self.ids, *self.texts, *((self.split,) if self.split else ()), *self.conditions)


def choose_fields(source: Source, names: Sequence[object], where: str, layout: Layout | None = None) -> Fields:
    """Choose the fields to read.

    Args:
        source: the source, which holds the columns and split that the user wants.
        names: names of all fields.
        where: the place of the fields, such as "record 1".
        layout: layout of the document; by default, the layouts of rows.

    Raises:
        InputError: a field is missing or ambiguous (CaptionFileError in a file).
        UnknownNameError: the requested column of groups is missing.
    """
    source.read_options.note_columns(source.name, names)
    row = _Row(source, names, f"{where}: found " + (", ".join(map(repr, names)) or "none"), layout is not None)
    layouts = [layout or USUAL]
    if layout is None and source.is_file:
        layouts = row_layouts(names)
    elif layout is not None and not layout.fits(names):
        if source.layout and source.role != "groups":
            lacking = " and ".join(layout.missing(names))
            raise source.error(f"this is not the layout {layout.name!r}: it lacks {lacking}", where=row.where)
        layouts = []
    if source.role == "groups":
        one = next(iter(layouts), layout or USUAL)
        ids = row.named_ids or row.choose("id", one) or row.choose("id", USUAL)
        return row.fields(ids, (row.group(ids),), one)
    if not layouts or has_usual_fields(source.role, names):
        layouts.append(USUAL)
    options: dict[tuple[tuple[str, ...], tuple[str, ...]], Layout] = {}
    for one in layouts:
        ids = row.named_ids or row.choose("id", one)
        texts = row.named_texts or row.choose("caption", one)
        options.setdefault((ids, texts), one)
    if len(options) > 1:
        choices = [f"id={'+'.join(ids)},caption={texts[0]}" for ids, texts in options]
        raise row.ambiguous(f"this fits two layouts, {' and '.join(one.name for one in options.values())}", choices)
    (((ids, texts), one),) = options.items()
    return row.fields(ids, texts, one)


def has_usual_fields(role: Role, names: Collection[object]) -> bool:
    """Return whether rows have an id and captions under the usual names."""
    return all(
        any(fields_of(name, names) for group in groups for name in group) for groups in (ID_FIELDS, TEXT_FIELDS[role])
    )


@dataclass(frozen=True)
class _Row:
    """The first row of a source: its field names, its place, and whether it is from a document."""

    source: Source
    names: Sequence[object]
    where: str
    is_of_document: bool

    def field_of(self, name: str) -> str:
        """Return the field that a column is named by: "de/caption" is the key caption of de."""
        return name if name in self.names else name.partition("/")[0]

    def path_of(self, name: str) -> str:
        """Return the path in the field that a column is named by; "" for the field itself."""
        return "" if name in self.names else name.partition("/")[2]

    @property
    def named_ids(self) -> tuple[str, ...]:
        """Fields of the id that the user names and that exist."""
        name = self.source.read_options.columns.id
        return () if name is None else fields_of(name, self.names) or fields_of(self.field_of(name), self.names)

    @property
    def named_texts(self) -> tuple[str, ...]:
        """Fields of captions that the user names, if they exist."""
        fields = tuple(map(self.field_of, self.source.read_options.columns.texts(self.source.role)))
        return fields if all(field in self.names for field in fields) else ()

    def choose(self, column: Literal["id", "caption"], layout: Layout) -> tuple[str, ...]:
        """Return the fields of ids or of captions in a layout; () if it has none of its own.

        Raises:
            InputError: two fields could be these, or none of the usual ones is there.
        """
        what: str = self.source.role
        usual, others = TEXT_FIELDS[self.source.role], ID_FIELDS
        groups: _Names = (layout.captions,)
        if column == "id":
            what, usual, others = "image ids", ID_FIELDS, usual
            groups = tuple((name,) for name in layout.ids)
        for group in usual if layout is USUAL else groups:
            present = [fields for name in group if (fields := fields_of(name, self.names))]
            if len(present) > 1:
                names = [fields[0] for fields in present]
                shown = sample_of(map(repr, names) if column == "id" else names, separator=" and ")
                problem = f"{'both ' * (len(names) == 2)}{shown} could be the {what}"
                raise self.ambiguous(problem, [f"{column}={name}" for name in names])
            if present:
                return present[0]
        if layout is USUAL:
            raise self._missing(what, column, usual, others)
        return ()

    def group(self, ids: Sequence[str]) -> str:
        """Return the field of groups: the requested one, ``group``, or the only one besides the id."""
        if self.source.column is not None:
            if self.source.column not in self.names:
                raise missing_column(self.source, self.where)
            return self.source.column
        candidates = [str(name) for name in self.names if name not in ids and not _INDEX.fullmatch(str(name))]
        if "group" in candidates or len(candidates) == 1:
            return "group" if "group" in candidates else candidates[0]
        raise self.source.error(
            f"which field holds the groups? Name it, as {either(python='column=NAME', command='FILE:COLUMN')}",
            where=self.where,
        )

    def fields(self, ids: tuple[str, ...], texts: tuple[str, ...], layout: Layout) -> Fields:
        """Return the fields, checked, with those that conditions depend on."""
        if any(self.names.count(name) > 1 for name in (*ids, *texts)):
            raise self.source.error("duplicate field", where=self.where)
        read_options, columns = self.source.read_options, self.source.read_options.columns
        has_captions = self.source.role != "groups"
        apart = layout.splits_apart and has_captions
        is_chosen = layout.split in self.names and (apart or bool(read_options.splits))
        paths = [""] * len(ids) + [layout.key if has_captions else ""] * len(texts)
        if columns.id is not None and self.named_ids:
            read_options.note_used([columns.id])
            paths[0] = self.path_of(columns.id)
        if has_captions and self.named_texts:
            names = columns.texts(self.source.role)
            read_options.note_used(names)
            paths[len(ids) :] = [self.path_of(name) or layout.key for name in names]
        return Fields(
            ids,
            texts,
            tuple(paths),
            split=layout.split if is_chosen else None,
            conditions={name: keep for name, keep in layout.conditions.items() if name in self.names},
            splits_apart=apart,
            of="sound" if texts[0].startswith(_OF_SOUNDS) else layout.of,
        )

    def ambiguous(self, problem: str, choices: Sequence[str]) -> InputError:
        """Return the error for two fields to choose from."""
        options = sample_of([option("columns", *choice.split(",")) for choice in choices], separator=" or ")
        return self.source.error(problem, where=self.where, hint=f"choose: {options}")

    def _missing(self, what: str, column: str, usual: _Names, other_names: _Names) -> InputError:
        """Return the error for a row without any of the usual names; ``other_names`` are those of its other column."""
        named = self.source.read_options.columns.names
        absent = [name for name in named if self.field_of(name) not in self.names]
        if absent:
            is_path = any(absent[0].startswith((f"{name}.", f"{name}[")) for name in self.names)
            hint = _slashes(absent[0], named[absent[0]]) if is_path else ""
            return self.source.error(
                f"there is no column {' or '.join(map(repr, absent))}", where=self.where, hint=hint
            )
        if not self.is_of_document and self.source.role != "groups" and self.source.is_file:
            _check_near_layout(self.source, self.where, self.names)
        *names, last = [name.replace("#", "1") for group in usual for name in group]
        read = {field for group in other_names for name in group for field in fields_of(name, self.names)}
        unread = [name for name in self.names if name not in read]
        hint = ""
        name = "image_id" if column == "id" else column
        if unread == [""]:
            hint = f"if the first column holds them, name it: to_csv(index_label={name!r})"
        elif len(unread) == 1 and self.source.is_file:
            hint = f"if {unread[0]!r} holds them: {option('columns', f'{column}={unread[0]}')}"
        elif len(unread) == 1:
            hint = f"if {unread[0]!r} holds them, rename it {name!r}"
        message = f"missing field for {what}: expected {', '.join(names)}{' or ' * bool(names)}{last}"
        too = option("columns", f"{column}=NAME", *(f"{key}={name}" for name, key in named.items()))
        return self.source.error(
            message, where=self.where, hint=f"name that column, too: {too}" if named else "", advice=hint
        )


def missing_column(source: Source, where: str) -> UnknownNameError:
    """Return the error for a missing column of groups."""
    return UnknownNameError(
        f"there is no column {source.column!r}",
        where=f"{source.name}: {where}",
        hint="name a column or field of this file, or give the groups in a file of their own",
    )


def rows_of_columns(entries: Entries, fields: Fields, columns: Sequence[Sequence[Any]]) -> CaptionRows:
    """Build rows from the values of fields, for the chosen split.

    Args:
        entries: the source and the places of its rows.
        fields: the chosen fields.
        columns: their values, in the order of ``Fields.names``.

    Raises:
        InputError: several splits, none of which was chosen, or an unknown split.
    """
    n_ids, n_texts = len(fields.ids), len(fields.texts)
    if fields.split or fields.conditions:
        mask = _mask(entries.source, fields, columns[n_ids + n_texts :], len(entries.numbers))
        columns = [[*compress(column, mask)] for column in columns]
        entries = entries.chosen(compress(count(), mask))
    columns = [
        _values_at(entries, name, path, column, "id" if place < n_ids else "caption") if path else column
        for place, (name, path, column) in enumerate(zip(fields.names, fields.paths, columns, strict=False))
    ]
    ids, values = columns[0], columns[n_ids]
    if n_ids > 1:
        ids = ["_".join(map(str, parts)) for parts in zip(*columns[:n_ids], strict=True)]
    if n_texts > 1:
        values = [joined_texts(cells) for cells in zip(*columns[n_ids:], strict=True)]
    rows = caption_rows(entries, ids, values)
    return rows if fields.of == "image" else replace(rows, of=fields.of)


def _values_at(entries: Entries, name: str, path: str, column: Sequence[Any], what: str) -> Sequence[Any]:
    """Return the values at a path in objects and lists."""
    values = []
    for number, cell in zip(entries.numbers, column, strict=True):
        try:
            values.append(_value_at(cell, path, name))
        except LookupError as error:
            hint = _slashes(f"{name}/{path}", what) or f"name another key: {option('columns', f'{what}={name}/KEY')}"
            where = f"{entries.unit} {number}"
            raise entries.source.error(str(error.args[0]), where=where, hint=hint) from None
    return values


def _slashes(path: str, what: str) -> str:
    """Return the hint for a path with dots or brackets; empty for any other."""
    steps = [step for step in re.split(r"[][./]+", path) if step]
    column = option("columns", f"{what}={'/'.join(steps)}")
    return f"keys and numbers are separated by slashes: {column}" if re.search(r"[][.]", path) and steps else ""


def _value_at(value: Any, path: str, at: str) -> Any:
    """Return the value at a path of keys of objects and indices of lists, joined by slashes, which keys may contain.

    Args:
        value: an object or a list.
        path: the path.
        at: the path of the value itself.

    Raises:
        LookupError: nothing is there; says what is.
    """
    while True:
        if isinstance(value, Mapping) and path in value:
            return value[path]
        step, slash, rest = path.partition("/")
        try:
            value = value[int(step)] if isinstance(value, list | tuple) else value[step]
        except (LookupError, TypeError, ValueError):
            found = f"is {shortened(value)}"
            if isinstance(value, Mapping):
                found = f"has {sample_of(map(repr, value))}"
            elif isinstance(value, list | tuple):
                found = f"has {counted(len(value), 'item')}"
            raise LookupError(f"there is no {step!r} in {at!r}, which {found}") from None
        if not slash:
            return value
        at, path = f"{at}/{step}", rest


def joined_texts(cells: Sequence[Any]) -> list[Any]:
    """Return the captions in the cells of a row, without empty ones."""
    lists = (cell if isinstance(cell, list | tuple) else [cell] for cell in cells if cell is not None and cell != "")
    return [text for texts in lists for text in texts]


def _mask(source: Source, fields: Fields, columns: Sequence[Sequence[Any]], n: int) -> list[bool]:
    """Return a mask of the rows to read."""
    mask = [True] * n
    if fields.split:
        splits, *columns = columns
        splits_read = chosen_splits(source, splits, apart=fields.splits_apart)
        if splits_read is not None:
            mask = [str(split) in splits_read for split in splits]
    for keep, column in zip(fields.conditions.values(), columns, strict=True):
        mask = [one and keep(value) for one, value in zip(mask, column, strict=True)]
    return mask


def chosen_splits(source: Source, splits: Sequence[Any], *, apart: bool) -> frozenset[str] | None:
    """Return the splits to read; None for all.

    Args:
        source: the source.
        splits: splits of its rows or images.
        apart: whether one of several splits must be chosen.

    Raises:
        InputError: as ``rows_of_columns`` does.
    """
    read_options = source.read_options
    counts = Counter(map(str, splits))
    counts_text = ", ".join(f"{split} ({n:,})" for split, n in [*counts.items()][:9])
    if read_options.splits:
        read_options.note_used([None])
        if absent := [split for split in read_options.splits if split not in counts]:
            message = f"there is no split {' or '.join(map(repr, absent))}"
            raise InputError(
                message, where=f"{source.name}: {counts_text}", hint=f"name one of these: {option('split', 'NAME')}"
            )
        return frozenset(read_options.splits)
    if apart and len(counts) > 1:
        raise InputError(
            f"this file has {len(counts)} splits, and none was chosen",
            where=f"{source.name}: {counts_text}",
            hint=f"choose with {option('split', 'NAME')}; several are "
            + either(python="a list", command="separated by commas"),
        )
    return None


# Shapes of captions, parsed from JSON or passed as Python objects: mappings, records, documents.
#
# A mapping goes from image to caption or captions. Records are one mapping per caption or per image, with the id and
# the text under one of the names in ``ID_FIELDS`` and ``TEXT_FIELDS``. A document is an object that holds records in
# one of the ``LAYOUTS``, such as COCO's.


def rows_of_document(source: Source, document: Any) -> CaptionRows | None:
    """Read the records of a JSON document: it is a list of them, has them in a layout, or beside metadata.

    None if it is a mapping from images.
    """
    if not isinstance(document, Mapping):
        return rows_of_records(numbered(source, "record", document), document)
    layout = _layout(source, document)
    if layout is not None:
        return _rows_of_layout(source, layout, document)
    if source.role not in ("candidates", "references"):
        return None
    key = _wrapping_key(source, document)
    if key is None:
        within = [value for value in document.values() if isinstance(value, Mapping) and _has_rows(source, value)]
        return rows_of_document(source, within[0]) if len(within) == 1 else None
    content = document[key]
    if isinstance(content, Mapping):
        return rows_of_mapping(source, content, id_form="text")
    return rows_of_records(numbered(source, f"{key} record", content), content)


def _rows_of_layout(source: Source, layout: Layout, document: Mapping[Any, Any]) -> CaptionRows:
    """Read rows of a document in a layout.

    COCO's annotations may be instances when the role is objects: they have a "category_id", which "categories" names.
    """
    assert layout.records is not None
    if source.role == "objects" and layout.parents == COCO.parents and "categories" in document:
        records: Sequence[Any] = _named_instances(source, document)
        entries = numbered(source, "annotation", records, _parent_ids(source, layout, document, None))
        return replace(rows_of_records(entries, records), are_categories=True)
    if source.role == "groups" and layout.parents is not None:
        return _groups(source, layout, document)
    unit, numbers, records = layout.records.all(document)
    parent_ids: Sequence[Any] = ()
    if layout.parents is not None:
        records, parent_ids = _add_parents(source, layout, document, records, unit)
    return rows_of_records(Entries(source, unit, numbers, known_images=parent_ids), records, layout)


def _layout(source: Source, document: Mapping[Any, Any]) -> Layout | None:
    """Return the layout of a document; None if it has none."""
    asked = BY_OPTION.get(source.layout)
    if asked is not None:
        return asked if asked.records is not None and asked.records.first(document) is not None else None
    columns = {*source.read_options.columns.texts(source.role)}
    layouts = [one for one in document_layouts(document) if not one.on_request or columns & {*one.captions}]
    if len(layouts) > 1:
        layouts = [one for one in layouts if columns & {*one.captions}] or layouts
    if len(layouts) > 1:
        choices = " or ".join(option("columns", f"caption={one.captions[0]}") for one in layouts)
        raise source.error(
            f"this fits two layouts, {' and '.join(one.name for one in layouts)}",
            where="keys: " + sample_of(map(repr, document)),
            hint=f"choose: {choices}",
        )
    if layouts:
        return layouts[0]
    keys = ("annotations", "images") if source.role == "groups" else ("annotations",)  # groups may be of images alone
    lists = [document.get(key) for key in keys]
    return COCO if any(records == [] or first_of(records) is not None for records in lists) else None


def _add_parents(
    source: Source, layout: Layout, document: Mapping[Any, Any], records: Sequence[Any], unit: str
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the records, with fields of the images they refer to, and all images."""
    assert layout.parents is not None
    parent, record = first_of(document.get(layout.parents.key)) or {}, first_of(records) or {}
    id_field = source.read_options.columns.id
    if id_field in record or id_field not in parent:
        id_field = None
    wants_split = layout.splits_apart or bool(source.read_options.splits)
    split = layout.split if wants_split and layout.split in parent and layout.split not in record else None
    parent_ids = _parent_ids(source, layout, document, split, id_field)
    keys = [name for name in (id_field, split) if name is not None]
    if not keys:
        return records, parent_ids
    parents, reference = layout.parents, layout.parents.reference
    try:
        fields = {image[parents.id]: {name: image[name] for name in keys} for image in document[parents.key]}
    except TypeError:
        raise source.error(f'an {parents.id!r} of "{parents.key}" is neither an integer nor a string') from None
    extended = []
    for number, entry in enumerate(records, 1):
        try:
            image = entry[reference]
            extended.append({**entry, **fields[image if image in fields else spelled_otherwise(image)]})
        except (KeyError, TypeError):
            where = f"{unit} {number}: {shortened(entry)}"
            raise source.error(f'expected a {reference!r} that is one of "{parents.key}"', where=where) from None
    return extended, parent_ids


def _parent_ids(
    source: Source, layout: Layout, document: Mapping[Any, Any], split: str | None, id_field: str | None = None
) -> Sequence[Any]:
    """Return the ids of all images that a document lists for the chosen split."""
    assert layout.parents is not None
    parents = document.get(layout.parents.key) or ()
    try:
        _, ids, *columns = columns_of(
            parents, [layout.parents.id, id_field or layout.parents.id, *filter(None, [split])]
        )
        splits = columns[0] if columns else None
    except (KeyError, TypeError, IndexError):
        fields = " and ".join(f'"{name}"' for name in (id_field or layout.parents.id, split) if name)
        message = f'"{layout.parents.key}" is not a list of objects that each have an {fields}'
        raise source.error(message) from None
    if layout.conditions:
        return ()  # images may be without captions, as some are left out
    splits_read = None if splits is None else chosen_splits(source, splits, apart=layout.splits_apart)
    if splits is None or splits_read is None:
        return ids
    return [image for image, one in zip(ids, splits, strict=True) if str(one) in splits_read]


def _groups(source: Source, layout: Layout, document: Mapping[Any, Any]) -> CaptionRows:
    """Read groups from a field of COCO's images or annotations; similarly from other documents."""
    assert layout.parents is not None
    assert layout.keys
    layouts = {layout.parents.key: replace(layout, ids=(layout.parents.id,)), layout.keys[-1]: layout}
    lists = {name: document.get(name) or [] for name in layouts}
    fields = {name: [*record] for name, records in lists.items() if (record := first_of(records)) is not None}
    having = [name for name, names in fields.items() if source.column is None or source.column in names]
    if not having:
        fields_text = "; ".join(f"{name} have " + ", ".join(map(repr, names)) for name, names in fields.items())
        raise missing_column(source, fields_text or "no images")
    if source.column is not None and len(having) > 1:
        raise source.error(f"both the {' and the '.join(having)} have a field {source.column!r}")
    name = having[0]
    return rows_of_records(numbered(source, name[:-1], lists[name]), lists[name], layouts[name])


def _named_instances(source: Source, document: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """Return the objects of COCO's instances, with the names of their categories."""
    try:
        names = {category["id"]: category["name"] for category in document["categories"]}
    except (KeyError, TypeError, IndexError):
        raise source.error('"categories" is not a list of objects that each have an "id" and a "name"') from None
    instances = []
    for number, instance in enumerate(document["annotations"], start=1):
        try:
            instances.append({"image_id": instance["image_id"], "objects": names[instance["category_id"]]})
        except (KeyError, TypeError, IndexError):
            where = f"annotation {number}: {shortened(instance)}"
            raise source.error('expected an "image_id" and a "category_id" of "categories"', where=where) from None
    return instances


def rows_of_mapping(source: Source, mapping: Mapping[Any, Any], *, id_form: IdForm) -> CaptionRows:
    """Read rows of ``{image: caption}`` or ``{image: [captions]}``."""
    if source.column is not None:
        raise missing_column(source, "an object from images to values has no columns")
    if source.layout and source.role != "groups":
        where = f"{source.name}: keys: {sample_of(map(repr, mapping))}"
        raise CaptionFileError(
            f"this is not the layout {BY_OPTION[source.layout].name!r}",
            where=where,
            hint=either(python="leave layout out to find it", command="leave --from out to find the layout"),
        )
    if (source.is_file or ID_FIELDS[0][0] in mapping) and has_usual_fields(source.role, mapping):
        are_columns = any(isinstance(value, Mapping | list) for value in mapping.values()) and not source.is_file
        raise source.error(
            "expected a list of records, not a single record",
            where=sample_of(map(repr, mapping)),
            advice='these are columns: give the data frame itself, or frame.to_dict("records")' if are_columns else "",
        )
    keys, values = [*mapping], [*mapping.values()]
    if source.role != "groups" and not set(map(type, values)) <= {str}:
        _check_values(source, keys, values)
    return caption_rows(Entries(source, "key", keys, id_form), keys, values)


def _check_values(source: Source, keys: Sequence[Any], values: Sequence[Any]) -> None:
    """Refuse documents that are no mappings from images: what is nearly a layout, and records of other images."""
    if source.is_file:
        where = "keys: " + sample_of(map(repr, keys))
        _check_near_layout(source, where, (), dict(zip(keys, values, strict=True)))
    for key, value in zip(keys, values, strict=True):
        record = value[0] if isinstance(value, list | tuple) and value else None
        image = (
            next((record[name] for name in ID_FIELDS[0] if name in record), key) if isinstance(record, Mapping) else key
        )
        if str(image) != str(key):
            raise source.error(
                "a list of records is under a key of an object; give the list",
                where=f"key {key!r}",
                advice="" if source.is_file else "of a document that json.load returned, give the path of its file",
            )


def _check_near_layout(
    source: Source, where: str, names: Sequence[object], document: Mapping[Any, Any] | None = None
) -> None:
    """Refuse rows and documents that are nearly in a layout, and say what they lack."""
    near = nearest_layout(names, document)
    if near is not None:
        layout, missing = near
        lacking = " and ".join(missing)
        raise source.error(f"this is nearly the layout {layout.name!r}, but it lacks {lacking}", where=where)


#: Keys under which programs write a mapping from images to captions, beside metadata.
_RESULTS = (
    "results",
    "predictions",
    "captions",
    "outputs",
    "answers",
    "generations",
    "candidates",
    "references",
    "data",
)


def _wrapping_key(source: Source, document: Mapping[Any, Any]) -> str | None:
    """Return the key under which a document has records, or a mapping from images, beside metadata.

    None if it is a mapping from images itself.

    Raises:
        CaptionFileError: there are two of them.
    """
    found = _has_rows(source, document)
    if not found:
        found = [
            key
            for key, value in document.items()
            if key in _RESULTS
            and isinstance(value, dict)
            and all(isinstance(one, str | list) for one in value.values())
        ]
    if len(found) > 1:
        raise source.error(
            f"records are under {len(found)} keys",
            where=sample_of(map(repr, found)),
            hint="give a file with one list of records",
        )
    return found[0] if found else None


def _has_rows(source: Source, document: Mapping[Any, Any]) -> list[Any]:
    """Return the keys under which a document has records of captions."""
    return [key for key, value in document.items() if _are_rows(source, key, value)]


def _are_rows(source: Source, key: str, value: object) -> bool:
    """Return whether a value is a list of records of captions, and not the captions of the image that is its key."""
    record = first_of(value)
    if record is None:
        return False
    names = [*record]
    ids = [name for group in ID_FIELDS for name in group if name in record]
    if ids and str(record[ids[0]]) == key:
        return False
    named = source.read_options.columns.names
    if named and all(name.partition("/")[0] in names or name in names for name in named):
        return True
    return has_usual_fields(source.role, names) or bool(row_layouts(names)) or log_of(source, names) is not None


def log_of(source: Source, names: Sequence[object]) -> Layout | None:
    """Return the layout of the log that has records with these fields; None if it is no log, or is not read as one.

    Names of columns, and the usual fields of captions, come before the keys of logs.
    """
    if not source.is_file or source.role not in ("candidates", "references"):
        return None
    if source.layout:
        layout = BY_OPTION[source.layout]
        return layout if layout.answer is not None else None
    has_image_id = ID_FIELDS[0][0] in names and has_usual_fields(source.role, names)
    if has_image_id or source.read_options.columns.names:
        return None
    return next((one for one in LAYOUTS if one.answer is not None and one.records is None and one.fits(names)), None)


def _rows_of_log(entries: Entries, layout: Layout, records: Sequence[Any]) -> CaptionRows:
    """Read the answers of a log, or its references.

    Raises:
        CaptionFileError: it is not such a log; for candidates, answers that failed.
        MissingReferencesError: for references, it has none.
    """
    assert layout.answer is not None
    source = entries.source
    answers = []
    for number, record in zip(entries.numbers, records, strict=True):
        try:
            if not isinstance(record, Mapping):
                raise TypeError(f"it is {record!r:.40}, not an object")
            answers.append(layout.answer(record))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else str(error)
            logs = [one for one in LAYOUTS if one.answer is not None]
            names = [*record] if isinstance(record, Mapping) else []
            alike = [one.option for one in logs if one is not layout and one.fits(names)]
            others = f"give a file that {layout.name} wrote, or name another layout: "
            others += ", ".join(one.option for one in logs)
            raise CaptionFileError(
                f"this is not a log of {layout.name}: {reason}",
                where=f"{source.name}: {entries.unit} {number}",
                hint=f"it looks like {alike[0]}: {option('from', alike[0])}" if alike else others,
            ) from error
    ids: Sequence[Any] = [answer.id for answer in answers]
    form: IdForm = "typed"
    if None in ids or (layout.numbers_images and len(set(ids)) < len(ids)):
        ids, form = range(len(answers)), "position"
    failure = None
    if source.role == "references":
        values: list[Any] = [[*answer.references] for answer in answers]
        if answers and not any(values):
            raise MissingReferencesError(
                f"this log of {layout.name} has no references",
                where=source.name,
                hint="give the references in a file of their own",
            )
    else:
        failure = _failure(source, ids, answers)
        if failure is not None and form == "position":
            raise failure  # the others are not at their positions without these
        given = [place for place, answer in enumerate(answers) if not answer.failure]
        answers = [answers[place] for place in given]
        ids, entries = [ids[place] for place in given], entries.chosen(given)
        values = [answer.texts[0] if len(answer.texts) == 1 else [*answer.texts] for answer in answers]
    rows = caption_rows(replace(entries, id_form=form), ids, values)
    prompts = tuple(dict.fromkeys(answer.prompt for answer in answers if answer.prompt))
    n_cut = sum(answer.is_cut for answer in answers)
    return replace(rows, prompts=prompts, log=layout.option, n_cut=n_cut, failure=failure)


def _failure(source: Source, ids: Sequence[Any], answers: Sequence[Answer]) -> CaptionFileError | None:
    """Return the error for answers that failed, by their ids; None if there are none."""
    failed = [f"{image!r} ({answer.failure})" for image, answer in zip(ids, answers, strict=True) if answer.failure]
    if not failed:
        return None
    return CaptionFileError(
        f"{counted_of(len(failed), len(answers), 'answer', 'have')} failed",
        where=f"{source.name}: {sample_of(failed)}",
        hint=f"request them again, or score the others: {option('match', 'common')}",
    )


def numbered(source: Source, unit: str, entries: Sequence[Any], known_images: Sequence[Any] = ()) -> Entries:
    """Return entries of a source that are counted from 1."""
    return Entries(source, unit, range(1, len(entries) + 1), known_images=known_images)


def rows_of_records(entries: Entries, records: Sequence[Any], layout: Layout | None = None) -> CaptionRows:
    """Read rows of ``[{"image_id", "caption"}, ...]``; every record has the fields of the first one.

    Args:
        entries: the source and the places of its records.
        records: the records; other fields are ignored.
        layout: layout of the document that holds them.
    """
    if not records:
        return caption_rows(entries, (), ())
    source = entries.source
    layout = layout or BY_OPTION.get(source.layout)
    log = layout or log_of(source, [*records[0]] if isinstance(records[0], Mapping) else ())
    if log is not None and log.answer is not None and source.role in ("candidates", "references"):
        return _rows_of_log(entries, log, records)
    fields: list[Fields] = []

    def choose(names: list[str], where: str) -> Sequence[str]:
        fields.append(choose_fields(source, names, where, layout))
        return fields[0].names

    (batch,) = record_batches(source, [(entries.numbers, records)], entries.unit, choose)
    return rows_of_columns(entries, fields[0], batch.columns)
