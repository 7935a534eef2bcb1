"""Shards: files, objects in a store or generators that hold the rows of a corpus.

A shard has a fingerprint that shows whether it has changed since it was found: size and time of modification, or the
store's own tag. ``batches`` reads its rows, a bounded number at a time, each time in the same batches.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby, islice
from typing import IO, Any, Protocol

import numpy as np

from captious.data import Captions, ImageId, References
from captious.data.formats import (
    EXTENSIONS,
    Batch,
    Choose,
    batches_of_rows,
    format_of_name,
    parse_rows,
    reading,
    record_batches,
)
from captious.data.ids import rule_for
from captious.data.records import joined_texts
from captious.data.rows import (
    Columns,
    Entries,
    Source,
    caption_rows,
    lists_from_cells,
)
from captious.errors import (
    CaptionFileError,
    EmptyInputError,
    InputError,
    MissingExtraError,
    MissingReferencesError,
    ParameterError,
    UnknownImageError,
    either,
)
from captious.scale.engines import BATCH_ROWS
from captious.words import counted_of, sample_of, shortened

# Rows of a shard as they are scored: checked batches of ids, candidates and references.
#
# Columns have the usual names of other readers (``id``, ``candidate``, ``references``, ...), or those in
# ``ShardColumns``.

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
        """Return the function that chooses from the columns of a shard; see ``captious.data.formats``."""
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
    named = either(python=f'columns="{key}=NAME"', command=f"--columns {key}=NAME")
    return InputError(problem, where=f"{where}: found {columns}", hint=f"name it: {named}")


def _without_numbers(path: str) -> str:
    return re.sub(r"\d+", "", os.path.basename(path))


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
    """

    source: str
    unit: str
    numbers: Sequence[int]
    ids: tuple[ImageId, ...]
    candidates: tuple[str, ...]
    references: tuple[Sequence[str], ...]

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
        rows = table.rows_of(self.ids)
        if None in rows:
            unknown = [self.place(i) for i, row in enumerate(rows) if row is None]
            hint = "is this the right reference file?"
            if _without_numbers(table.name) == _without_numbers(self.source):
                quote = "quote the pattern, which the shell has replaced by several names"
                hint = f"is this another shard? Then {either(python='list it among the shards', command=quote)}"
            elif rule_for(self.ids, table.ids) is not None:
                hint = "the ids of both sides are written differently: write them alike"
            raise UnknownImageError(
                f"{counted_of(len(unknown), len(self), 'row', 'have')} ids without references",
                where=f"{sample_of(unknown)}; in {table.name}",
                hint=hint,
            )
        places = np.array(rows, np.int64)
        images = tuple(map(table.images.__getitem__, places.tolist()))
        references = References(tuple(range(len(places))), *table.texts_of(places), name=table.name, images=images)
        return Captions(self.candidates, references)


def checked_rows(source: str, batches: Iterable[Batch], *, cells_are_text: bool = False) -> Iterator[RowBatch]:
    """Yield checked rows of a shard, from batches of the columns that ``ShardColumns.choose`` chose.

    Raises:
        InputError: a value that is neither an id nor a caption.
    """
    for batch in batches:
        entries = Entries(Source(source, "rows", is_file=True), batch.unit, batch.numbers)
        ids, *texts = batch.columns
        if cells_are_text:
            texts = [lists_from_cells(entries, cells) for cells in texts]
        candidates, *references = texts
        if len(references) > 1:  # rows need not all have the same number of references
            references = [[joined_texts(cells) for cells in zip(*references, strict=True)]]
        yield _checked(entries, ids, candidates, *references)


def _checked(
    entries: Entries, ids: Sequence[Any], candidates: Sequence[Any], references: Sequence[Any] | None = None
) -> RowBatch:
    """Return rows as other readers read them, or raise their error for invalid rows."""
    source = entries.source
    lists: tuple[Sequence[str], ...] = ()
    if references is not None:
        cells = [cell if isinstance(cell, list | tuple) else [cell] for cell in references]
        if empty := [f"{entries.unit} {entries.numbers[row]:,}" for row, texts in enumerate(cells) if not texts]:
            raise MissingReferencesError(
                f"{counted_of(len(empty), len(cells), 'row', 'have')} no references",
                where=f"{source.name}: {sample_of(empty)}",
                hint='rows are such as {"id": 42, "candidate": "a cat", "references": ["a cat", "the cat"]}',
            )
        of_references = replace(entries, source=replace(source, role="references"))
        lists, texts = tuple(cells), caption_rows(of_references, ids, cells).texts
        if texts != tuple(chain.from_iterable(cells)):  # they were written in another way
            left = iter(texts)
            lists = tuple([*islice(left, len(cell))] for cell in cells)
    of_candidates = replace(source, role="candidates", several=references is None)
    rows = caption_rows(replace(entries, source=of_candidates), ids, candidates)
    numbers: Any = rows.numbers  # of rows, which are never named by an image
    return RowBatch(source.name, rows.unit, numbers, rows.ids, rows.texts, lists)


# Shards, and how they are found.

_BUFFER = 1 << 20


class Shard(Protocol):
    """A part of a corpus. Shards go to other processes, so they must be picklable."""

    @property
    def name(self) -> str:
        """Name in messages and results, unique in a run."""
        ...

    @property
    def fingerprint(self) -> str:
        """A text that changes when the content does."""
        ...

    def batches(self, columns: ShardColumns, size: int = BATCH_ROWS) -> Iterator[RowBatch]:
        """Yield its rows in order, at most ``size`` at a time.

        Raises:
            InputError: rows that are not captions, or a file that cannot be read.
        """
        ...


@dataclass(frozen=True)
class FileShard:
    """A shard in a file: .parquet, .jsonl, .ndjson, .csv, .tsv or .json with a list of records, plain or .gz.

    Args:
        name: its path, or its URL in an object store.
        fingerprint: size and time of modification, or the store's tag.
    """

    name: str
    fingerprint: str

    def batches(self, columns: ShardColumns, size: int = BATCH_ROWS) -> Iterator[RowBatch]:
        """See ``Shard``.

        Raises:
            MissingExtraError: parquet without pyarrow, or a store without fsspec.
        """
        source = Source(self.name, "rows", is_file=True)
        format = format_of_name(source)
        empty = True
        with reading(source), _opened(self.name) as file:
            batches = parse_rows(file, format, source, columns.of_shard(self.name), size=size)
            for rows in checked_rows(self.name, batches, cells_are_text=format in ("csv", "tsv")):
                empty = False
                yield rows
        if empty:
            raise EmptyInputError("there are no rows", where=self.name, hint="remove the shard, or write it again")


@dataclass(frozen=True)
class GeneratedShard:
    """A shard whose rows a function generates.

    Args:
        name: its name.
        records: returns the rows as mappings from column to value, or as ``RowBatch``; it must be picklable, such as a
            function of a module, and return the same rows at every call.
        arguments: arguments for the call.
    """

    name: str
    records: Callable[..., Iterable[Mapping[str, Any] | RowBatch]]
    arguments: tuple[Any, ...] = field(default=())

    @property
    def fingerprint(self) -> str:
        function = self.records
        return f"{function.__module__}.{getattr(function, '__qualname__', '')}{self.arguments!r}"

    def batches(self, columns: ShardColumns, size: int = BATCH_ROWS) -> Iterator[RowBatch]:
        """See ``Shard``."""
        source = Source(self.name, "rows")
        for are_rows, items in groupby(self.records(*self.arguments), lambda item: isinstance(item, RowBatch)):
            if are_rows:
                yield from items  # type: ignore[misc]
            else:
                records = record_batches(
                    source, batches_of_rows(enumerate(items, 1), size), "row", columns.of_shard(self.name)
                )
                yield from checked_rows(self.name, records)


def as_shards(shards: str | os.PathLike[str] | Shard | Sequence[str | os.PathLike[str] | Shard]) -> tuple[Shard, ...]:
    """Return the shards of a run: those that match patterns, each once and sorted by name; others unchanged.

    Args:
        shards: patterns such as ``data/part-*.parquet`` or ``s3://bucket/captions/*.jsonl.gz`` (``**`` matches any
            folders), paths, or shards.

    Raises:
        CaptionFileError: a pattern that matches nothing, or a file of another format.
        MissingExtraError: a URL in an object store without fsspec.
        ParameterError: two shards with the same name.
    """
    single = isinstance(shards, str | os.PathLike) or hasattr(shards, "batches")
    items: Sequence[Any] = [shards] if single else list(shards)  # type: ignore[arg-type]
    files: dict[str, FileShard] = {}
    readers: list[Shard] = []
    for shard_or_path in items:
        if isinstance(shard_or_path, str | os.PathLike):
            for shard in _shards_of(os.fspath(shard_or_path)):
                # However its path is written, a file is one shard.
                files.setdefault(shard.name if "://" in shard.name else os.path.abspath(shard.name), shard)
        elif hasattr(shard_or_path, "batches"):
            readers.append(shard_or_path)
        else:
            problem = f"{shortened(shard_or_path)} is not a shard"
            raise ParameterError(problem, hint="give paths, patterns or captious.scale shards")
    all_shards = (*sorted(files.values(), key=lambda shard: shard.name), *readers)
    names = [shard.name for shard in all_shards]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"two shards are called {repeated!r}", hint="give each shard its own name")
    if not all_shards:
        raise ParameterError("no shards were given", hint="give a pattern, such as 'data/part-*.parquet'")
    return all_shards


def _shards_of(pattern: str) -> Iterator[FileShard]:
    """Return the shards that match a pattern or path."""
    shards = [*(_stored_shards(pattern) if "://" in pattern else _local_shards(pattern))]
    if not shards:
        raise CaptionFileError(
            "no file matches", where=pattern, hint="check the pattern; quote it, so that the shell leaves it"
        )
    for shard in shards:
        if not shard.name.lower().removesuffix(".gz").endswith(EXTENSIONS):
            raise CaptionFileError(
                "this is not the extension of a shard",
                where=shard.name,
                hint=f"accepted are {', '.join(EXTENSIONS)}, each plain or with .gz; make the pattern narrower",
            )
    return iter(shards)


def _local_shards(pattern: str) -> Iterator[FileShard]:
    paths = [pattern] if os.path.exists(pattern) else glob.glob(pattern, recursive=True)
    if os.path.isdir(pattern):
        raise CaptionFileError("this is a folder", where=pattern, hint=f"give a pattern, such as '{pattern}/*.jsonl'")
    for path in paths:
        if os.path.isfile(path):
            about = os.stat(path)
            yield FileShard(path, f"{about.st_size} bytes, modified {about.st_mtime_ns}")


def _stored_shards(pattern: str) -> Iterator[FileShard]:
    fs, path = _store_of(pattern)
    try:
        paths = fs.glob(path) if glob.has_magic(path) else [path] if fs.isfile(path) else []
        for address in paths:
            about = fs.info(address)
            if about.get("type") == "file":
                tag = about.get("ETag") or about.get("etag") or about.get("mtime") or about.get("LastModified") or ""
                yield FileShard(fs.unstrip_protocol(address), f"{about.get('size')} bytes, {tag}")
    except Exception as error:  # stores have errors of their own, which are not OSErrors
        raise CaptionFileError(
            f"the store cannot be read: {str(error) or type(error).__name__}",
            where=pattern,
            hint="check the address and your credentials",
        ) from error


@contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed if it is a gzip file."""
    if "://" in name:
        fs, path = _store_of(name)
        raw = fs.open(path, "rb")
    else:
        raw = open(name, "rb")  # noqa: SIM115
    with raw:
        if not name.lower().endswith(".gz"):
            yield raw
            return
        with gzip.open(raw, "rb") as unpacked, io.BufferedReader(unpacked, _BUFFER) as file:
            yield file


def _store_of(address: str) -> tuple[Any, str]:
    """Return the file system of a URL in an object store, and the path there.

    Raises:
        MissingExtraError: fsspec, or its package for this store, is not installed.
        CaptionFileError: a protocol that fsspec does not know.
    """
    try:
        import fsspec

        fs, path = fsspec.core.url_to_fs(address)
    except ImportError as error:
        raise MissingExtraError(
            f"reading from an object store needs another package: {error}",
            where=address,
            hint="pip install 'captious[store]', and fsspec's package for the store, such as s3fs or gcsfs",
        ) from None
    except ValueError as error:
        raise CaptionFileError(str(error), where=address, hint="check the protocol, such as s3:// or gs://") from None
    return fs, path
