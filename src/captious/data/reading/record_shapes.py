"""Shapes of captions, parsed from JSON or passed as Python objects: mappings, records, documents.

A mapping goes from image to caption or captions. Records are one mapping per caption or per image, with the id and the
text under one of the names in ``reading.fields``. A document is an object that holds records in one of the ``LAYOUTS``,
such as COCO's.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from captious.data.ids import IdForm
from captious.data.reading.caption_file import Role
from captious.data.reading.caption_rows import CaptionRows, caption_rows
from captious.data.reading.document_records import first_of
from captious.data.reading.fields import (
    Fields,
    choose_fields,
    chosen_splits,
    has_usual_fields,
    missing_column,
    rows_of_columns,
)
from captious.data.reading.json_files import columns_of
from captious.data.reading.layouts import COCO, Layout, document_layouts, nearest_layout
from captious.data.reading.row_parser import record_batches
from captious.data.reading.source import Source
from captious.errors import option
from captious.phrases import sample_of


def is_document(content: Mapping[Any, Any], role: Role) -> bool:
    """Return whether this holds records in one of the layouts, rather than being a mapping from images."""
    return _is_coco(content, role) or bool(document_layouts(content))


def _is_coco(content: Mapping[Any, Any], role: Role) -> bool:
    """Return whether this is COCO's format; groups may also come without captions."""
    lists = [content.get(name) for name in (("annotations", "images") if role == "groups" else ("annotations",))]
    return any(records == [] or first_of(records) is not None for records in lists)


def rows_of_document(source: Source, document: Mapping[Any, Any]) -> CaptionRows:
    """Read rows of a document in one of the layouts.

    COCO's annotations may be instances when the role is objects: they have a "category_id", which "categories" names.
    """
    layout = _layout(source, document)
    if source.role == "objects" and layout.parents == COCO.parents and "categories" in document:
        records: Sequence[Any] = _named_instances(source, document)
        parent_ids = _parent_ids(source, layout, document, None)
        rows = rows_of_records(
            source, records, unit="annotation", numbers=range(1, len(records) + 1), known_images=parent_ids
        )
        return replace(rows, are_categories=True)
    if source.role == "groups" and layout.parents is not None:
        return _groups(source, layout, document)
    assert layout.records is not None
    unit, numbers, records = layout.records.all(document)
    parent_ids = ()
    if layout.parents is not None:
        records, parent_ids = _add_parents(source, layout, document, records, unit)
    return rows_of_records(source, records, unit=unit, numbers=numbers, known_images=parent_ids, layout=layout)


def _layout(source: Source, document: Mapping[Any, Any]) -> Layout:
    """Return the layout of a document."""
    columns = () if source.read_options is None else source.read_options.columns.texts(source.role)
    layouts = [one for one in document_layouts(document) if not one.on_request or {*columns} & {*one.captions}]
    if len(layouts) > 1 and (matching := [one for one in layouts if {*columns} & {*one.captions}]):
        layouts = matching
    if len(layouts) > 1:
        choices = " or ".join(option("columns", f"caption={one.captions[0]}") for one in layouts)
        raise source.error(
            f"this fits two layouts, {' and '.join(one.name for one in layouts)}",
            where="keys: " + sample_of(map(repr, document)),
            help=f"choose: {choices}",
        )
    return layouts[0] if layouts else COCO


def _add_parents(
    source: Source, layout: Layout, document: Mapping[Any, Any], records: Sequence[Any], unit: str
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the records, with fields of the images they refer to, and all images."""
    assert layout.parents is not None
    parent, record = first_of(document.get(layout.parents.key)) or {}, first_of(records) or {}
    read_options = source.read_options
    id_field = (
        None
        if read_options is None or read_options.columns.id in record or read_options.columns.id not in parent
        else read_options.columns.id
    )
    wants_split = layout.splits_apart or (read_options is not None and bool(read_options.splits))
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
            extended.append({**entry, **fields[entry[reference]]})
        except (KeyError, TypeError):
            where = f"{unit} {number}: {reprlib.repr(entry)}"
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
    numbers = range(1, len(lists[name]) + 1)
    return rows_of_records(source, lists[name], unit=name[:-1], numbers=numbers, layout=layouts[name])


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
            where = f"annotation {number}: {reprlib.repr(instance)}"
            raise source.error('expected an "image_id" and a "category_id" of "categories"', where=where) from None
    return instances


def rows_of_mapping(source: Source, mapping: Mapping[Any, Any], *, id_form: IdForm) -> CaptionRows:
    """Read rows of ``{image: caption}`` or ``{image: [captions]}``."""
    if source.column is not None:
        raise missing_column(source, "an object from images to values has no columns")
    if has_usual_fields(source.role, mapping.keys()):
        raise source.error("expected a list of records, not a single record", where=sample_of(map(repr, mapping)))
    keys = list(mapping)
    if len(keys) == 1 and _are_records_of_many_images(mapping[keys[0]]):
        raise source.error("a list of records is wrapped in an object; give the list", where=f"key {keys[0]!r}")
    if source.role != "groups" and (near := nearest_layout((), mapping)) is not None:
        layout, missing = near
        message = f"this is nearly the layout {layout.name!r}, but it lacks {' and '.join(missing)}"
        raise source.error(message, where="keys: " + sample_of(map(repr, keys)))
    return caption_rows(source, keys, list(mapping.values()), unit="key", numbers=keys, id_form=id_form)


def _are_records_of_many_images(value: object) -> bool:
    """Return whether this is a list of records of different images, not the captions of one image."""
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        return False
    return len({repr(item[name]) for item in value for name in ("image_id", "image") if name in item}) > 1


def rows_of_records(
    source: Source,
    records: Sequence[Any],
    *,
    unit: str,
    numbers: Sequence[Any],
    known_images: Sequence[Any] = (),
    layout: Layout | None = None,
) -> CaptionRows:
    """Read rows of ``[{"image_id", "caption"}, ...]``; every record has the fields of the first one.

    Args:
        source: the source.
        records: the records; other fields are ignored.
        unit, numbers: as in ``CaptionRows``.
        known_images: images that are listed elsewhere.
        layout: layout of the document that holds them.
    """
    if not records:
        return caption_rows(source, (), (), unit=unit, numbers=(), known_images=known_images)
    fields: list[Fields] = []

    def choose(names: list[str], where: str) -> Sequence[str]:
        fields.append(choose_fields(source, names, where, layout))
        return fields[0].names

    (batch,) = record_batches(source, [(numbers, records)], unit, choose)
    return rows_of_columns(source, fields[0], batch.columns, unit=unit, numbers=numbers, known_images=known_images)
