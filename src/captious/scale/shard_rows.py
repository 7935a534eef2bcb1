"""Rows of a shard as they are scored: checked batches of ids, candidates and references.

Columns have the usual names of other readers (``id``, ``candidate``, ``references``, ...), or those in
``ShardColumns``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, filterfalse, repeat
from typing import Any

import numpy as np

from captious.data import Captions, ImageId, References
from captious.data.ids import as_image_id, numbers_from_text, numbers_in_file_names
from captious.data.reading.caption_file import Columns
from captious.data.reading.caption_rows import caption_rows
from captious.data.reading.row_parser import Batch, Choose
from captious.data.reading.source import Source, is_unicode
from captious.errors import InputError, MissingReferencesError, UnknownImageError, option
from captious.phrases import counted_of, sample_of

#: Rows that are in memory at a time, unless another number is asked for.
BATCH_ROWS = 8192

#: The names of columns that are looked for, in this order.
_USUAL = {
    "id": ("image_id", "image", "id"),
    "candidate": ("candidate", "caption"),
    "references": ("references", "refs"),
}


@dataclass(frozen=True)
class ShardColumns(Columns):
    """Names of the columns of ids, candidates and references in shards.

    Args:
        with_references: whether rows hold references; otherwise they come from elsewhere.
    """

    with_references: bool = field(default=True, kw_only=True)

    def of_shard(self, shard: str) -> Choose:
        """Return the function that chooses from the columns of a shard; see ``captious.data.reading.row_parser``."""
        return lambda names, where: self.choose(names, f"{shard}: {where}")

    def choose(self, names: Sequence[str], where: str) -> tuple[str, ...]:
        """Return the columns of ids, candidates and references among all columns of a shard.

        Raises:
            InputError: a column is missing or ambiguous.
        """
        requests = {
            "id": (self.id,) if self.id else (),
            "candidate": self.texts("candidates"),
            "references": self.references or (self.caption if self.candidate else ()),
        }
        fields: list[str] = []
        for key, usual in _USUAL.items():
            if key == "references" and not self.with_references:
                continue
            columns = requests[key]
            if not columns:
                columns = tuple(name for name in usual if name in names)
                if not columns:
                    raise _no_column(f"missing column for {key}: expected {' or '.join(usual)}", names, where, key)
                if len(columns) > 1 and key == "references":
                    raise _no_column(f"both {' and '.join(columns)} could be the {key}", names, where, key)
            for name in columns if key == "references" else columns[:1]:
                if names.count(name) != 1:
                    problem = f"two columns are called {name!r}" if name in names else f"there is no column {name!r}"
                    raise _no_column(problem, names, where, key)
                fields.append(name)
        return tuple(fields)


def _no_column(problem: str, names: Sequence[str], where: str, key: str) -> InputError:
    columns = ", ".join(map(repr, names)) or "none"
    return InputError(problem, where=f"{where}: found {columns}", help=f"name it: {option('columns', f'{key}=NAME')}")


@dataclass(frozen=True, eq=False)
class RowBatch:
    """A batch of rows.

    Args:
        source: the shard.
        unit: kind of row in messages: "line", "row", "record".
        numbers: number of each row in the shard, in these units.
        ids: id of each row.
        candidates: candidate of each row.
        references: references of each row, at least one; empty if they come from elsewhere.
        ids_are_text: whether the format cannot distinguish "12" from 12, such as csv.
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
        """Return the place of a row, such as "part-3.jsonl: line 12 (id 42)"."""
        return f"{self.source}: {self.unit} {self.numbers[row]:,} (id {self.ids[row]!r})"

    @cached_property
    def captions(self) -> Captions:
        """The rows as captions for metrics."""
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum([*map(len, self.references)], out=offsets[1:])
        texts = tuple(chain.from_iterable(self.references))
        return Captions(self.candidates, References(self.ids, texts, offsets, name=self.source))

    def select(self, start: int, stop: int) -> RowBatch:
        """Return some of the rows."""
        part = slice(start, stop)
        return replace(
            self,
            numbers=self.numbers[part],
            ids=self.ids[part],
            candidates=self.candidates[part],
            references=self.references[part],
        )

    def joined(self, table: References) -> Captions:
        """Return the rows with references from another table, looked up by id; an image may have several candidates.

        Raises:
            UnknownImageError: an id without references there.
        """
        row_of = table.rows_by_id
        rows = [row_of.get(image) for image in self.ids]
        if None in rows and (names := numbers_in_file_names(self.ids)):
            rows = [*map(row_of.get, names)]
        if self.ids_are_text and None in rows:
            numbers = numbers_from_text(self.ids)
            rows = [row_of.get(image) if row is None else row for row, image in zip(rows, numbers, strict=True)]
        if None in rows:
            unknown = [self.place(i) for i, row in enumerate(rows) if row is None]
            raise UnknownImageError(
                f"{counted_of(len(unknown), len(self), 'row', 'have')} ids without references",
                where=f"{sample_of(unknown)}; in {table.name}",
                help="ids are strings on one side and numbers on the other: write them alike"
                if type(self.ids[0]) is not type(table.ids[0])
                else "is this the right reference file?",
            )
        places = np.array(rows, np.int64)
        images = tuple(map(table.images.__getitem__, places.tolist()))
        references = References(tuple(range(len(places))), *table.texts_of(places), name=table.name, images=images)
        return Captions(self.candidates, references)


def checked_rows(source: str, batches: Iterable[Batch], *, ids_are_text: bool = False) -> Iterator[RowBatch]:
    """Yield checked rows of a shard, from batches of the columns that ``ShardColumns.choose`` chose.

    Raises:
        InputError: a value that is neither an id nor a caption.
    """
    for batch in batches:
        ids, candidates, *cells = batch.columns
        if ids_are_text and len(cells) > 1:  # rows need not all have the same number of references
            cells = [[cell or None for cell in column] for column in cells]
        lists: Iterable[Sequence[Any]] = repeat((), len(ids))
        if len(cells) == 1:
            lists = map(_cell_texts, cells[0])
        elif cells:
            by_row = zip(*cells, strict=True)
            lists = ([text for cell in row if cell is not None for text in _cell_texts(cell)] for row in by_row)
        rows = RowBatch(
            source, batch.unit, batch.numbers, tuple(ids), tuple(candidates), tuple(lists), ids_are_text=ids_are_text
        )
        if _are_plain(rows, with_references=bool(cells)):
            yield rows
        else:
            yield replace(rows, ids=_checked_ids(rows, with_references=bool(cells)))


def _cell_texts(cell: Any) -> Sequence[Any]:
    """Return the references of a cell: a list of texts, or one text."""
    return cell if isinstance(cell, list | tuple) else [cell]


def _are_plain(rows: RowBatch, *, with_references: bool) -> bool:
    """Return whether rows are valid as far as a quick check can tell."""
    ids, texts = rows.ids, [*rows.candidates, *chain.from_iterable(rows.references)]
    if set(map(type, ids)) not in ({int}, {str}) or set(map(type, texts)) != {str}:
        return False
    if with_references and not (all(rows.references) and len(set(ids)) == len(ids)):
        return False
    if isinstance(ids[0], str):
        texts += ids  # type: ignore[arg-type]
    return is_unicode("".join(filterfalse(str.isascii, texts)))


def _checked_ids(rows: RowBatch, *, with_references: bool) -> tuple[ImageId, ...]:
    """Return the ids, or raise the error of other readers for invalid rows."""
    source = partial(Source, rows.source, is_file=True)
    check = partial(caption_rows, ids=rows.ids, unit=rows.unit, numbers=rows.numbers)
    if with_references:
        if empty := [f"{rows.unit} {rows.numbers[row]:,}" for row, texts in enumerate(rows.references) if not texts]:
            raise MissingReferencesError(
                f"{counted_of(len(empty), len(rows), 'row', 'have')} no references",
                where=f"{rows.source}: {sample_of(empty)}",
                help='rows are such as {"id": 42, "candidate": "a cat", "references": ["a cat", "the cat"]}',
            )
        check(source("candidates"), values=rows.candidates)
        check(source("references"), values=[*map(list, rows.references)])
    else:
        check(source("candidates", several=True), values=[[text] for text in rows.candidates])
    return tuple(image for image in map(as_image_id, rows.ids) if image is not None)
