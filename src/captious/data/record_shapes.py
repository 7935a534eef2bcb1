"""The shapes captions come in, whether parsed from JSON or given as Python objects: mappings, records, COCO.

A mapping goes from image to caption or captions. Records are one mapping per caption or per image, with the
id and the text under one of the field names below; the columns of tables go by the same names.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from captious.data.caption_rows import CaptionRows, caption_rows
from captious.data.ids import IdForm
from captious.data.row_parser import record_batches
from captious.data.source import Role, Source, some
from captious.errors import UnknownNameError

__all__ = ["choose_fields", "is_coco", "rows_of_coco", "rows_of_mapping", "rows_of_records"]

ID_FIELDS = ("image_id", "image", "id")

# The first group with a field that is present wins, so that one file may hold candidates and references side by
# side; two of the same group contradict each other.
TEXT_FIELDS: dict[Role, tuple[tuple[str, ...], ...]] = {
    "candidates": (("candidate", "candidates"), ("caption", "captions")),
    "references": (("references", "refs"), ("caption", "captions")),
    "groups": (("group",),),
    "objects": (("objects",), ("references", "refs"), ("caption", "captions")),
}


def choose_fields(source: Source, names: Sequence[object], where: str) -> tuple[str, str]:
    """The names of the id field and the text field among all names.

    Raises:
        InputError: one of them is not there, or there are two to choose from (CaptionFileError in a file).
        UnknownNameError: the column of groups that was asked for is not there.
    """
    listed = "found " + (", ".join(map(repr, names)) or "none")
    id_field = next((name for name in ID_FIELDS if name in names), None)
    if id_field is None:
        raise source.error(f"missing field for image ids: expected {_either(ID_FIELDS)}", where=f"{where}: {listed}")
    if source.role == "groups":
        return id_field, _group_field(source, names, id_field, f"{where}: {listed}")
    for group in TEXT_FIELDS[source.role]:
        present = [name for name in group if name in names]
        if len(present) > 1:
            raise source.error(f"both {' and '.join(present)} could be the {source.role}", where=f"{where}: {listed}")
        if present:
            if names.count(present[0]) > 1 or names.count(id_field) > 1:
                raise source.error("duplicate field", where=f"{where}: {listed}")
            return id_field, present[0]
    expected = [name for group in TEXT_FIELDS[source.role] for name in group]
    raise source.error(f"missing field for {source.role}: expected {_either(expected)}", where=f"{where}: {listed}")


def _group_field(source: Source, names: Sequence[object], id_field: str, where: str) -> str:
    """The name of the field of groups: the one that was asked for, ``group``, or the only one besides the id."""
    if source.column is not None:
        if source.column not in names:
            raise missing_column(source, where)
        field = source.column
    else:
        others = [str(name) for name in names if name != id_field]
        field = "group" if "group" in others else others[0] if len(others) == 1 else ""
        if not field:
            raise source.error("which field holds the groups? Name it, as FILE:COLUMN", where=where)
    if names.count(field) > 1 or names.count(id_field) > 1:
        raise source.error("duplicate field", where=where)
    return field


def missing_column(source: Source, where: str) -> UnknownNameError:
    """The error for a column of groups that is not there."""
    return UnknownNameError(
        f"there is no column {source.column!r}",
        where=f"{source.name}: {where}",
        help="name a column or field of this file, or give the groups in a file of their own",
    )


def _either(names: Sequence[str]) -> str:
    """ "a, b or c"."""
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def is_coco(document: Mapping[Any, Any], role: Role) -> bool:
    """Whether this is COCO's annotation format rather than a mapping from images; groups also come without captions."""
    lists = [document.get(name) for name in (("annotations", "images") if role == "groups" else ("annotations",))]
    return any(isinstance(records, list) and all(isinstance(r, Mapping) for r in records[:1]) for records in lists)


def rows_of_coco(source: Source, document: Mapping[Any, Any]) -> CaptionRows:
    """Rows of COCO's annotation format: ``{"images": [{"id"}], "annotations": [{"image_id", "caption"}]}``.

    Of objects, annotations may be instances: they have a "category_id", which "categories" names.
    """
    if source.role == "groups":
        return _groups_of_coco(source, document)
    try:
        known_images = [image["id"] for image in document.get("images", ())]
    except (KeyError, TypeError, IndexError):
        raise source.error('"images" is not a list of objects that each have an "id"') from None
    records = document["annotations"]
    are_categories = source.role == "objects" and "categories" in document
    if are_categories:
        records = _named_instances(source, document)
    numbers = range(1, len(records) + 1)
    rows = rows_of_records(source, records, unit="annotation", numbers=numbers, known_images=known_images)
    return replace(rows, are_categories=are_categories)


def _groups_of_coco(source: Source, document: Mapping[Any, Any]) -> CaptionRows:
    """Groups from a field of COCO's images, or of its annotations."""
    lists = {name: document.get(name) or [] for name in ("images", "annotations")}
    first = {name: records[0] for name, records in lists.items() if isinstance(records, list) and records}
    fields = {name: [*record] for name, record in first.items() if isinstance(record, Mapping)}
    having = [name for name, names in fields.items() if source.column is None or source.column in names]
    if not having:
        listed = "; ".join(f"{name} have " + ", ".join(map(repr, names)) for name, names in fields.items())
        raise missing_column(source, listed or "no images")
    if source.column is not None and len(having) > 1:
        raise source.error(f"both the images and the annotations have a field {source.column!r}")
    records = lists[having[0]]
    return rows_of_records(source, records, unit=having[0][:-1], numbers=range(1, len(records) + 1))


def _named_instances(source: Source, document: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """The objects of COCO's instances, with the names of their categories."""
    try:
        names = {category["id"]: category["name"] for category in document["categories"]}
    except (KeyError, TypeError, IndexError):
        raise source.error('"categories" is not a list of objects that each have an "id" and a "name"') from None
    named = []
    for number, instance in enumerate(document["annotations"], start=1):
        try:
            named.append({"image_id": instance["image_id"], "objects": names[instance["category_id"]]})
        except (KeyError, TypeError, IndexError):
            where = f"annotation {number}: {reprlib.repr(instance)}"
            raise source.error('expected an "image_id" and a "category_id" of "categories"', where=where) from None
    return named


def rows_of_mapping(source: Source, mapping: Mapping[Any, Any], *, id_form: IdForm) -> CaptionRows:
    """Rows of ``{image: caption}`` or ``{image: [captions]}``."""
    if source.column is not None:
        raise missing_column(source, "an object from images to values has no columns")
    fields = [name for name in ID_FIELDS if name in mapping]
    if fields and any(name in mapping for group in TEXT_FIELDS[source.role] for name in group):
        raise source.error("expected a list of records, not a single record", where=some(map(repr, mapping)))
    keys = list(mapping)
    if len(keys) == 1 and _are_records_of_many_images(mapping[keys[0]]):
        raise source.error("a list of records is wrapped in an object; give the list", where=f"key {keys[0]!r}")
    return caption_rows(source, keys, list(mapping.values()), unit="key", numbers=keys, id_form=id_form)


def _are_records_of_many_images(value: object) -> bool:
    """Whether this is a list of records of different images, not the captions of one."""
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        return False
    return len({repr(item[name]) for item in value for name in ID_FIELDS[:2] if name in item}) > 1


def rows_of_records(
    source: Source,
    records: Sequence[Any],
    *,
    unit: str,
    numbers: Sequence[int],
    known_images: Sequence[Any] = (),
) -> CaptionRows:
    """Rows of ``[{"image_id", "caption"}, ...]``; every record has the fields that the first one has.

    Args:
        source: what is being read.
        records: the records; what else they hold is ignored.
        unit, numbers: what a record is called, as in ``CaptionRows``.
        known_images: images that are listed elsewhere.
    """
    if not records:
        return caption_rows(source, (), (), unit=unit, numbers=(), known_images=known_images)
    (batch,) = record_batches(source, [(numbers, records)], unit, partial(choose_fields, source))
    ids, values = batch.columns
    return caption_rows(source, ids, values, unit=unit, numbers=numbers, known_images=known_images)
