"""Files of shards, read in batches, from disk or an object store. Nothing reads a file as a whole."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from captious.data.file_contents import format_of_name, reading
from captious.data.row_parser import parse_rows
from captious.data.source import Source
from captious.errors import EmptyInputError
from captious.scale.batches import Columns, Rows, checked_rows
from captious.scale.shards import store_of

__all__ = ["file_batches"]

_BUFFER = 1 << 20


def file_batches(name: str, columns: Columns, size: int) -> Iterator[Rows]:
    """The rows of a file, at most ``size`` at a time.

    Args:
        name: a path, or an address in an object store.
        columns: which columns to read.
        size: rows of a batch.

    Raises:
        CaptionFileError: a file that cannot be read, is damaged or not of its format; a subclass where one fits.
        InputError: rows that are not captions.
        MissingExtraError: parquet without pyarrow, or a store without fsspec.
    """
    source = Source(name, "rows", is_file=True)
    format = format_of_name(source)
    empty = True
    with reading(source), _opened(name) as file:
        batches = parse_rows(file, format, source, columns.of_shard(name), size=size)
        for rows in checked_rows(name, batches, ids_are_text=format in ("csv", "tsv")):
            empty = False
            yield rows
    if empty:
        raise EmptyInputError("there are no rows", where=name, help="remove the shard, or write it again")


@contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    """A file for reading, unpacked if it is a gzip file."""
    if "://" in name:
        fs, path = store_of(name)
        raw = fs.open(path, "rb")
    else:
        raw = open(name, "rb")  # noqa: SIM115
    with raw:
        if not name.lower().endswith(".gz"):
            yield raw
            return
        with gzip.open(raw, "rb") as unpacked, io.BufferedReader(unpacked, _BUFFER) as file:
            yield file
