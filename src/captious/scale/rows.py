"""Rows of a shard as they are scored: ids, candidates and references of one batch, checked.

Columns are found by the names that other readers use (``id``, ``candidate``, ``references``, ...), or by those that
``Columns`` gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, filterfalse, repeat
from typing import Any

import numpy as np

from captious.data import Captions, ImageId, References
from captious.data.ids import as_image_id
from captious.data.rows import Source, caption_rows, is_unicode, some
from captious.errors import InputError, MissingReferencesError, ParameterError, UnknownImageError

__all__ = ["BATCH_ROWS", "Columns", "Rows", "checked_rows"]

#: Rows that are in memory at a time, unless another number is asked for.
BATCH_ROWS = 8192

#: The names of columns that are looked for, in this order.
_USUAL = {
    "id": ("image_id", "image", "id"),
    "candidate": ("candidate", "caption"),
    "references": ("references", "refs"),
}


@dataclass(frozen=True)
class Columns:
    """Names of the columns that hold ids, candidates and references; None for one that has a usual name.

    Args:
        id: column of ids.
        candidate: column of candidates.
        references: column of references, each cell one text or a list of texts; or several columns.
        with_references: whether rows hold references; otherwise they come from elsewhere.
    """

    id: str | None = None
    candidate: str | None = None
    references: tuple[str, ...] = ()
    with_references: bool = field(default=True, kw_only=True)

    @classmethod
    def of(cls, names: str | Mapping[str, str | Sequence[str]] | Columns | None) -> Columns:
        """From text such as ``id=image_id,candidate=caption,references=ref1,references=ref2``, or from a mapping.

        Raises:
            ParameterError: not such text, or something that is not a column of captions.
        """
        if isinstance(names, Columns):
            return names
        pairs: list[tuple[str, str]] = []
        if isinstance(names, str):
            for piece in names.split(","):
                key, equals, name = piece.strip().partition("=")
                if not (equals and name):
                    raise ParameterError(
                        f"{piece.strip()!r} does not name a column", help="write id=NAME,candidate=NAME,references=NAME"
                    )
                pairs.append((key, name))
        else:
            for key, value in (names or {}).items():
                pairs += [(key, value)] if isinstance(value, str) else [(key, name) for name in value]
        found: dict[str, list[str]] = {"id": [], "candidate": [], "references": []}
        for key, name in pairs:
            if key not in found:
                raise ParameterError(f"{key!r} is not a column of captions", help="these are id, candidate, references")
            found[key].append(name)
        for key in ("id", "candidate"):
            if len(found[key]) > 1:
                raise ParameterError(f"two columns for {key}: {', '.join(found[key])}", help="give one")
        return cls(next(iter(found["id"]), None), next(iter(found["candidate"]), None), tuple(found["references"]))

    def among(self, names: Sequence[str], where: str) -> Columns:
        """The same with all names filled in.

        Args:
            names: all columns of a shard.
            where: the shard, for messages.

        Raises:
            InputError: one is not there, or there are two to choose from.
        """
        given = {"id": self.id, "candidate": self.candidate, "references": self.references or None}
        chosen: dict[str, Any] = {}
        for key, wanted in given.items():
            if key == "references" and not self.with_references:
                chosen[key] = ()
                continue
            if wanted is None:
                there = [name for name in _USUAL[key] if name in names]
                if len(there) > 1 and key == "references":
                    raise _no_column(f"both {' and '.join(there)} could be the {key}", names, where, key)
                if not there:
                    raise _no_column(
                        f"missing column for {key}: expected {' or '.join(_USUAL[key])}", names, where, key
                    )
                wanted = there[0] if key != "references" else tuple(there)
            for name in (wanted,) if isinstance(wanted, str) else wanted or ():
                if name not in names:
                    raise _no_column(f"there is no column {name!r}", names, where, key)
            chosen[key] = wanted
        return Columns(**chosen, with_references=self.with_references)

    @property
    def all(self) -> tuple[str, ...]:
        """Every column that is read, each once."""
        assert self.id is not None and self.candidate is not None
        return tuple(dict.fromkeys((self.id, self.candidate, *self.references)))


def _no_column(problem: str, names: Sequence[str], where: str, key: str) -> InputError:
    found = ", ".join(map(repr, names)) or "none"
    return InputError(problem, where=f"{where}: found {found}", help=f"name it: --columns {key}=NAME")


@dataclass(frozen=True, eq=False)
class Rows:
    """A batch of rows.

    Args:
        source: the shard.
        unit: what a row is called in messages: "line", "row", "record".
        numbers: number of each row in the shard, counted as ``unit`` says.
        ids: id of each row.
        candidates: candidate of each row.
        references: references of each row, at least one; empty if they come from elsewhere.
        ids_are_text: whether the format cannot tell "12" from 12, as csv cannot.
    """

    source: str
    unit: str
    numbers: Sequence[int]
    ids: tuple[ImageId, ...]
    candidates: tuple[str, ...]
    references: tuple[Sequence[str], ...]
    ids_are_text: bool = field(default=False, kw_only=True)

    def __len__(self) -> int:
        return len(self.ids)

    def place(self, row: int) -> str:
        """Where a row came from, such as "part-3.jsonl: line 12 (id 42)"."""
        return f"{self.source}: {self.unit} {self.numbers[row]:,} (id {self.ids[row]!r})"

    @cached_property
    def captions(self) -> Captions:
        """The rows as the table that metrics take."""
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum([*map(len, self.references)], out=offsets[1:])
        texts = tuple(chain.from_iterable(self.references))
        return Captions(self.candidates, References(self.ids, texts, offsets, name=self.source))

    def select(self, start: int, stop: int) -> Rows:
        """Some of the rows."""
        part = slice(start, stop)
        return replace(
            self,
            numbers=self.numbers[part],
            ids=self.ids[part],
            candidates=self.candidates[part],
            references=self.references[part],
        )

    def joined(self, table: References, row_of: Mapping[ImageId, int]) -> Captions:
        """The rows with references of another table; an image may have several candidates.

        Args:
            table: references.
            row_of: rows of the table by id.

        Raises:
            UnknownImageError: an id that has no references there.
        """
        rows = [row_of.get(image) for image in self.ids]
        if None in rows:
            unknown = [self.place(i) for i, row in enumerate(rows) if row is None]
            raise UnknownImageError(
                f"{len(unknown):,} of {len(self):,} rows have ids without references",
                where=f"{some(unknown)}; in {table.name}",
                help="ids are strings on one side and numbers on the other: write them alike"
                if type(self.ids[0]) is not type(next(iter(row_of)))
                else "is this the right reference file?",
            )
        found = np.array(rows, np.int64)
        starts, counts = table.offsets[found].tolist(), np.diff(table.offsets)[found]
        references = References(
            tuple(range(len(found))),
            tuple(
                chain.from_iterable(
                    table.texts[start : start + n] for start, n in zip(starts, counts.tolist(), strict=True)
                )
            ),
            np.concatenate([[0], np.cumsum(counts)]),
            name=table.name,
            images=tuple(map(table.images.__getitem__, found.tolist())),
        )
        return Captions(self.candidates, references)


def checked_rows(source: str, unit: str, numbers: Sequence[int], records: Sequence[Any], columns: Columns) -> Rows:
    """Rows of records, checked.

    Args:
        source: the shard.
        unit, numbers: as in ``Rows``.
        records: mappings from column to value.
        columns: which columns to take.

    Raises:
        InputError: something that is not a record, lacks a column, or is neither an id nor a caption.
    """
    first = records[0]
    if not isinstance(first, Mapping):
        raise InputError(
            f"this is not an object: {first!r:.60}", where=f"{source}: {unit} {numbers[0]:,}", help=_ROW_HELP
        )
    named = columns.among(list(first), f"{source}: {unit} {numbers[0]:,}")
    try:
        of_columns = {name: [record[name] for record in records] for name in named.all}
    except (KeyError, TypeError, IndexError):
        raise _unlike_the_first(source, unit, numbers, records, named) from None
    return checked_columns(source, unit, numbers, of_columns, named)


_ROW_HELP = 'rows are such as {"id": 42, "candidate": "a cat", "references": ["a cat", "the cat"]}'


def _unlike_the_first(
    source: str, unit: str, numbers: Sequence[int], records: Sequence[Any], columns: Columns
) -> InputError:
    """The error for the first record that is not an object or lacks a column."""
    for number, record in zip(numbers, records, strict=True):
        where = f"{source}: {unit} {number:,}"
        if not isinstance(record, Mapping):
            return InputError(f"this is not an object: {record!r:.60}", where=where, help=_ROW_HELP)
        lacking = [name for name in columns.all if name not in record]
        if lacking:
            return InputError(f"missing {' and '.join(map(repr, lacking))}", where=where, help=_ROW_HELP)
    raise AssertionError("all records have all columns")


def checked_columns(
    source: str, unit: str, numbers: Sequence[int], values: Mapping[str, Sequence[Any]], columns: Columns
) -> Rows:
    """Rows from the values of each column. Raises as ``checked_rows``."""
    assert columns.id is not None and columns.candidate is not None
    ids, candidates = values[columns.id], values[columns.candidate]
    lists: Iterable[Sequence[Any]] = ()
    if len(columns.references) == 1:
        lists = map(_as_list, values[columns.references[0]])
    elif columns.references:
        cells = zip(*(values[name] for name in columns.references), strict=True)
        lists = ([text for cell in row if cell is not None for text in _as_list(cell)] for row in cells)
    references = tuple(lists) if columns.references else tuple(repeat((), len(ids)))
    if not _are_plain(ids, candidates, references, with_references=bool(columns.references)):
        ids = _checked(source, unit, numbers, ids, candidates, references, with_references=bool(columns.references))
    return Rows(source, unit, numbers, tuple(ids), tuple(candidates), references)


def _as_list(cell: Any) -> Sequence[Any]:
    """The references of a cell: a list of texts, or one text."""
    return cell if isinstance(cell, list | tuple) else [cell]


def _are_plain(
    ids: Sequence[Any], candidates: Sequence[Any], references: Sequence[Sequence[Any]], *, with_references: bool
) -> bool:
    """Whether nothing is wrong with rows, as far as can be seen quickly."""
    if not (set(map(type, ids)) in ({int}, {str}) and set(map(type, candidates)) == {str}):
        return False
    if with_references:
        if set(map(type, chain.from_iterable(references))) != {str} or not all(references):
            return False
        if len(set(ids)) < len(ids):
            return False
    texts: Iterable[str] = chain(candidates, chain.from_iterable(references))
    if isinstance(ids[0], str):
        texts = chain(texts, ids)
    return is_unicode("".join(filterfalse(str.isascii, texts)))


def _checked(
    source: str,
    unit: str,
    numbers: Sequence[int],
    ids: Sequence[Any],
    candidates: Sequence[Any],
    references: Sequence[Sequence[Any]],
    *,
    with_references: bool,
) -> tuple[ImageId, ...]:
    """The ids, or the error that says what is wrong with rows, as other readers say it."""
    empty = [f"{unit} {number:,}" for number, each in zip(numbers, references, strict=True) if not each]
    if with_references and empty:
        raise MissingReferencesError(
            f"{len(empty):,} of {len(references):,} rows have no references",
            where=f"{source}: {some(empty)}",
            help=_ROW_HELP,
        )
    shown = Source(source, "candidates" if with_references else "references", is_file=True)
    # Of candidates, caption_rows wants one per id; rows that share references may have several.
    checked = caption_rows(shown, ids, [*candidates], unit=unit, numbers=numbers)
    if with_references:
        caption_rows(
            Source(source, "references", is_file=True), ids, [*map(list, references)], unit=unit, numbers=numbers
        )
    else:
        for number, candidate in zip(numbers, candidates, strict=True):
            if not isinstance(candidate, str):
                raise InputError(
                    f"the candidate is {candidate!r:.60}", where=f"{source}: {unit} {number:,}", help=_ROW_HELP
                )
    ids_checked = tuple(as_image_id(image) for image in ids)
    assert checked and None not in ids_checked
    return ids_checked  # type: ignore[return-value]
