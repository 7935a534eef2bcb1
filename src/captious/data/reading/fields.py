"""Choice of the fields or columns that hold ids and captions: named by the user, by a layout, or the usual ones."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

from captious.data.ids import IdForm, ImageId
from captious.data.reading.caption_file import Role
from captious.data.reading.caption_rows import CaptionRows, caption_rows
from captious.data.reading.layouts import Layout, fields_of, nearest_layout, row_layouts
from captious.data.reading.source import Source
from captious.errors import InputError, UnknownNameError, option
from captious.phrases import sample_of

#: Names of one group contradict each other; otherwise the first group with one that is there wins.
_Names = tuple[tuple[str, ...], ...]

ID_FIELDS: _Names = (("image_id",), ("image",), ("video_id", "file_name", "filename", "id"))
_CAPTIONS = ("caption", "captions", "report")
# One file may hold candidates and references side by side.
TEXT_FIELDS: dict[Role, _Names] = {
    "candidates": (("candidate", "candidates", "prediction", "predictions", "caption_predicted"), _CAPTIONS),
    "references": (("references", "refs", "reference_#"), _CAPTIONS),
    "groups": (("group",),),
    "objects": (("objects",), ("references", "refs"), _CAPTIONS),
}


@dataclass(frozen=True)
class Fields:
    """The fields of rows to read.

    Args:
        ids: fields of the id, joined by "_" if there are several.
        texts: fields of captions, each holding a caption or a list of captions.
        keys: for each field of ``texts``, the key of the captions if it holds objects; otherwise "".
        split: the field with the split of a row, if it matters.
        conditions: by field, the condition on rows to read.
        splits_apart: whether one of several splits must be chosen.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    keys: tuple[str, ...]
    split: str | None = None
    conditions: Mapping[str, Callable[[Any], bool]] = field(default_factory=dict)
    splits_apart: bool = False

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
    if source.read_options is not None:
        source.read_options.note_columns(source.name, names)
    row = _Row(source, names, f"{where}: found " + (", ".join(map(repr, names)) or "none"), layout is not None)
    layouts = row_layouts(names) if layout is None else [layout] if layout.fits(names) else []
    if source.role == "groups":
        one_layout = layout or next(iter(layouts), None)
        ids = row.named_ids or (row.ids_of(one_layout) if one_layout else ()) or row.usual_ids()
        return row.fields(ids, (row.group(ids),), one_layout)
    options: dict[tuple[tuple[str, ...], tuple[str, ...]], Layout | None] = {}
    for one in layouts:
        options[row.named_ids or row.ids_of(one), row.named_texts or row.captions_of(one)] = one
    if not options or has_usual_fields(source.role, names):
        options.setdefault((row.named_ids or row.usual_ids(), row.named_texts or row.usual_texts()), None)
    if len(options) > 1:
        descriptions = [one.name if one else "rows with the usual names" for one in options.values()]
        choices = [f"id={'+'.join(ids)},caption={texts[0]}" for ids, texts in options]
        raise row.ambiguous(f"this fits two layouts, {' and '.join(descriptions)}", choices)
    (((ids, texts), one_layout),) = options.items()
    return row.fields(ids, texts, one_layout)


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

    @property
    def named_ids(self) -> tuple[str, ...]:
        """Fields of the id that the user names and that exist."""
        read_options = self.source.read_options
        ids = (
            () if read_options is None or read_options.columns.id is None else tuple(read_options.columns.id.split("+"))
        )
        return ids if all(name in self.names for name in ids) else ()

    @property
    def named_texts(self) -> tuple[str, ...]:
        """Fields of captions that the user names and that exist."""
        return tuple(name for name, _ in self.named_keys.values())

    @property
    def named_keys(self) -> dict[str, tuple[str, str]]:
        """Field and key of each caption column that the user names: "de/caption" is the key caption of the field de."""
        read_options = self.source.read_options
        texts = () if read_options is None else read_options.columns.texts(self.source.role)
        keys = {text: (text, "") if text in self.names else _field_and_key(text) for text in texts}
        return keys if all(name in self.names for name, _ in keys.values()) else {}

    def ids_of(self, layout: Layout) -> tuple[str, ...]:
        present = (tuple(name.split("+")) for name in layout.ids)
        return next((ids for ids in present if all(name in self.names for name in ids)), ())

    def captions_of(self, layout: Layout) -> tuple[str, ...]:
        captions = layout.captions_among(self.names)
        if len(captions) > 1:
            present = [fields[0] for fields in captions]
            raise self.ambiguous(self._could_be(present), [f"caption={name}" for name in present])
        return captions[0]

    def usual_ids(self) -> tuple[str, ...]:
        for group in ID_FIELDS:
            present = [name for name in group if name in self.names]
            if len(present) > 1:
                message = f"both {' and '.join(map(repr, present))} could be the image ids"
                raise self.ambiguous(message, [f"id={name}" for name in present])
            if present:
                return (present[0],)
        self._check_near_names()
        raise self._missing("image ids", "id", ID_FIELDS, TEXT_FIELDS[self.source.role])

    def usual_texts(self) -> tuple[str, ...]:
        groups = TEXT_FIELDS[self.source.role]
        for group in groups:
            present = [fields for name in group if (fields := fields_of(name, self.names))]
            if len(present) > 1:
                firsts = [fields[0] for fields in present]
                raise self.ambiguous(self._could_be(firsts), [f"caption={name}" for name in firsts])
            if present:
                return present[0]
        self._check_near_names()
        raise self._missing(self.source.role, "caption", groups, ID_FIELDS)

    def group(self, ids: Sequence[str]) -> str:
        """Return the field of groups: the requested one, ``group``, or the only one besides the id."""
        if self.source.column is not None:
            if self.source.column not in self.names:
                raise missing_column(self.source, self.where)
            return self.source.column
        candidates = [str(name) for name in self.names if name not in ids]
        if "group" in candidates or len(candidates) == 1:
            return "group" if "group" in candidates else candidates[0]
        raise self.source.error("which field holds the groups? Name it, as FILE:COLUMN", where=self.where)

    def fields(self, ids: tuple[str, ...], texts: tuple[str, ...], layout: Layout | None) -> Fields:
        """Return the fields, checked, with those that conditions depend on."""
        if any(self.names.count(name) > 1 for name in (*ids, *texts)):
            raise self.source.error("duplicate field", where=self.where)
        read_options = self.source.read_options
        apart = layout is not None and layout.splits_apart and self.source.role != "groups"
        split = "split" if layout is None else layout.split
        is_chosen = split in self.names and (apart or (read_options is not None and bool(read_options.splits)))
        chosen_keys = self.named_keys if self.source.role != "groups" else {}
        if read_options is not None:
            read_options.note_used(
                [*ids, "+".join(ids), *(texts if self.source.role != "groups" else ()), *chosen_keys]
            )
        keys = [key for _, key in chosen_keys.values()] or [""] * len(texts)
        if layout is not None and self.source.role != "groups":
            keys = [key or layout.key for key in keys]
        conditions = (
            {} if layout is None else {key: keep for key, keep in layout.conditions.items() if key in self.names}
        )
        return Fields(ids, texts, tuple(keys), split if is_chosen else None, conditions, apart)

    def ambiguous(self, problem: str, choices: Sequence[str]) -> InputError:
        """Return the error for two fields to choose from."""
        options = sample_of([option("columns", choice) for choice in choices], separator=" or ")
        return self.source.error(problem, where=self.where, help=f"choose: {options}")

    def _could_be(self, names: Sequence[str]) -> str:
        both = "both " * (len(names) == 2)
        return f"{both}{sample_of(names, separator=' and ')} could be the {self.source.role}"

    def _missing(self, what: str, column: str, usual: _Names, other_names: _Names) -> InputError:
        """Return the error for a row without any of the usual names; ``other_names`` are those of its other column."""
        read_options = self.source.read_options
        absent = [] if read_options is None else [name for name in read_options.columns.names if name not in self.names]
        if absent:
            return self.source.error(f"there is no column {' or '.join(map(repr, absent))}", where=self.where)
        *names, last = [name.replace("#", "1") for group in usual for name in group]
        read = {field for group in other_names for name in group for field in fields_of(name, self.names)}
        unread = [name for name in self.names if name not in read]
        hint = f"if {unread[0]!r} holds them: {option('columns', f'{column}={unread[0]}')}" if len(unread) == 1 else ""
        message = f"missing field for {what}: expected {', '.join(names)}{' or ' * bool(names)}{last}"
        return self.source.error(message, where=self.where, hint=hint)

    def _check_near_names(self) -> None:
        near = None if self.is_of_document or self.source.role == "groups" else nearest_layout(self.names)
        if near is not None:
            layout, missing = near
            problem = f"this is nearly the layout {layout.name!r}, but it lacks {' and '.join(missing)}"
            raise self.source.error(problem, where=self.where)


def missing_column(source: Source, where: str) -> UnknownNameError:
    """Return the error for a missing column of groups."""
    return UnknownNameError(
        f"there is no column {source.column!r}",
        where=f"{source.name}: {where}",
        help="name a column or field of this file, or give the groups in a file of their own",
    )


def rows_of_columns(
    source: Source,
    fields: Fields,
    columns: Sequence[Sequence[Any]],
    *,
    unit: str,
    numbers: Sequence[ImageId],
    id_form: IdForm = "typed",
    known_images: Sequence[Any] = (),
) -> CaptionRows:
    """Build rows from the values of fields, for the chosen split.

    Args:
        source: the source.
        fields: the chosen fields.
        columns: their values, in the order of ``Fields.names``.
        unit, numbers, id_form, known_images: see ``caption_rows``.

    Raises:
        InputError: several splits, none of which was chosen, or an unknown split.
    """
    n_ids, n_texts = len(fields.ids), len(fields.texts)
    if fields.split or fields.conditions:
        mask = _mask(source, fields, columns[n_ids + n_texts :], len(numbers))
        columns = [[*compress(column, mask)] for column in columns]
        numbers = [*compress(numbers, mask)]
    ids = columns[0]
    texts = [
        _key_values(source, name, key, column, unit, numbers) if key else column
        for name, key, column in zip(fields.texts, fields.keys, columns[n_ids:], strict=False)
    ]
    values = texts[0]
    if n_ids > 1:
        ids = ["_".join(map(str, parts)) for parts in zip(*columns[:n_ids], strict=True)]
    if n_texts > 1:
        values = [_joined(cells) for cells in zip(*texts, strict=True)]
    return caption_rows(source, ids, values, unit=unit, numbers=numbers, id_form=id_form, known_images=known_images)


def _key_values(
    source: Source, name: str, key: str, column: Sequence[Any], unit: str, numbers: Sequence[ImageId]
) -> Sequence[Any]:
    """Return the values of a key of objects."""
    for number, cell in zip(numbers, column, strict=True):
        if not isinstance(cell, Mapping) or key not in cell:
            shown_cell = sample_of(map(repr, cell)) if isinstance(cell, Mapping) else reprlib.repr(cell)
            problem = f"expected {name!r} to be an object with {key!r}, found {shown_cell}"
            raise source.error(
                problem, where=f"{unit} {number}", help=f"name another key: {option('columns', f'caption={name}/KEY')}"
            )
    return [cell[key] for cell in column]


def _field_and_key(name: str) -> tuple[str, str]:
    """Split a name at the first slash into field and key."""
    field, _, key = name.partition("/")
    return (field, key) if key else (name, "")


def _joined(cells: Sequence[Any]) -> list[Any]:
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
    counts: dict[str, int] = {}
    for split in splits:
        counts[str(split)] = counts.get(str(split), 0) + 1
    counts_text = ", ".join(f"{split} ({n:,})" for split, n in [*counts.items()][:9])
    if read_options is not None and read_options.splits:
        read_options.note_used([None])
        if absent := [split for split in read_options.splits if split not in counts]:
            message = f"there is no split {' or '.join(map(repr, absent))}"
            raise InputError(
                message, where=f"{source.name}: {counts_text}", help=f"name one of these: {option('split', 'NAME')}"
            )
        return frozenset(read_options.splits)
    if apart and len(counts) > 1:
        raise InputError(
            f"this file has {len(counts)} splits, and none was chosen",
            where=f"{source.name}: {counts_text}",
            help=f"choose with {option('split', 'NAME')}; several are separated by commas",
        )
    return None
