"""Shards: files, objects in a store or generators that hold the rows of a corpus.

A shard has a fingerprint that shows whether it has changed since it was found: size and time of modification, or the
store's own tag. ``batches`` reads its rows, a bounded number at a time, each time in the same batches.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import IO, Any, Protocol

from captious.data.reading.file_contents import EXTENSIONS, format_of_name, reading
from captious.data.reading.row_parser import batches_of_rows, parse_rows, record_batches
from captious.data.reading.source import Source
from captious.errors import CaptionFileError, EmptyInputError, MissingExtraError, ParameterError
from captious.scale.shard_rows import BATCH_ROWS, RowBatch, ShardColumns, checked_rows

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
            for rows in checked_rows(self.name, batches, ids_are_text=format in ("csv", "tsv")):
                empty = False
                yield rows
        if empty:
            raise EmptyInputError("there are no rows", where=self.name, help="remove the shard, or write it again")


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
            problem = f"{shard_or_path!r:.60} is not a shard"
            raise ParameterError(problem, help="give paths, patterns or captious.scale shards")
    all_shards = (*sorted(files.values(), key=lambda shard: shard.name), *readers)
    names = [shard.name for shard in all_shards]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"two shards are called {repeated!r}", help="give each shard its own name")
    if not all_shards:
        raise ParameterError("no shards were given", help="give a pattern, such as 'data/part-*.parquet'")
    return all_shards


def _shards_of(pattern: str) -> Iterator[FileShard]:
    """Return the shards that match a pattern or path."""
    shards = [*(_stored_shards(pattern) if "://" in pattern else _local_shards(pattern))]
    if not shards:
        raise CaptionFileError(
            "no file matches", where=pattern, help="check the pattern; quote it, so that the shell leaves it"
        )
    for shard in shards:
        if not shard.name.lower().removesuffix(".gz").endswith(EXTENSIONS):
            raise CaptionFileError(
                "this is not the extension of a shard",
                where=shard.name,
                help=f"accepted are {', '.join(EXTENSIONS)}, each plain or with .gz; make the pattern narrower",
            )
    return iter(shards)


def _local_shards(pattern: str) -> Iterator[FileShard]:
    paths = [pattern] if os.path.exists(pattern) else glob.glob(pattern, recursive=True)
    if os.path.isdir(pattern):
        raise CaptionFileError("this is a folder", where=pattern, help=f"give a pattern, such as '{pattern}/*.jsonl'")
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
            help="check the address and your credentials",
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
            help="pip install 'captious[store]', and fsspec's package for the store, such as s3fs or gcsfs",
        ) from None
    except ValueError as error:
        raise CaptionFileError(str(error), where=address, help="check the protocol, such as s3:// or gs://") from None
    return fs, path
