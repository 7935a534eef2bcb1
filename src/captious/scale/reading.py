"""Files of shards, read in batches: parquet, JSON lines, csv, tsv and JSON lists, from disk or an object store.

Nothing reads a file as a whole. Other readers of captious, in ``captious.data``, do: they also take formats in which
the captions of an image may be anywhere in the file.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import importlib
import io
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import IO, Any

from captious.errors import (
    CaptionFileError,
    CaptiousError,
    EmptyInputError,
    EncodingError,
    MissingExtraError,
    TruncatedFileError,
)
from captious.scale.rows import Columns, Rows, checked_columns, checked_rows
from captious.scale.shards import store_of

__all__ = ["file_batches", "opened"]

#: The longest line and the longest record that are read, in bytes: a row is a handful of captions.
MOST_BYTES = 1 << 26

_PIECE = 1 << 20


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
    form = name.lower().removesuffix(".gz").rpartition(".")[2]
    with _failures(name), opened(name) as file:
        match form:
            case "parquet":
                batches = _parquet(file, name, columns, size)
            case "csv" | "tsv":
                batches = _delimited(file, name, columns, size, "," if form == "csv" else "\t")
            case "json":
                batches = _of_records(_json_records(file, name), name, "record", columns, size)
            case _:
                batches = _of_records(_json_lines(file, name), name, "line", columns, size)
        empty = True
        for batch in batches:
            empty = False
            yield batch
        if empty:
            raise EmptyInputError("there are no rows", where=name, help="remove the shard, or write it again")


@contextmanager
def opened(name: str) -> Iterator[IO[bytes]]:
    """A file for reading, unpacked if it is a gzip file."""
    if "://" in name:
        fs, path = store_of(name)
        raw = fs.open(path, "rb")
    else:
        raw = open(name, "rb")  # noqa: SIM115
    with raw:
        if name.lower().endswith(".gz"):
            with gzip.open(raw, "rb") as unpacked, io.BufferedReader(unpacked, _PIECE) as file:
                yield file
        else:
            yield raw


@contextmanager
def _failures(name: str) -> Iterator[None]:
    """Turn failures of reading into errors that name the shard."""
    try:
        yield
    except (CaptiousError, MemoryError):
        raise
    except EOFError:
        raise TruncatedFileError(
            "the gzip data is truncated", where=name, help="download or compress the file again"
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise CaptionFileError(
            f"this is not gzip data, or it is damaged: {error}",
            where=name,
            help="download or compress the file again; if it is not compressed, remove .gz from its name",
        ) from None
    except OSError as error:
        raise CaptionFileError(
            f"the shard cannot be read: {error.strerror or error}", where=name, help="check its path and permissions"
        ) from error


def _of_records(
    records: Iterator[tuple[int, Any]], name: str, unit: str, columns: Columns, size: int
) -> Iterator[Rows]:
    """Batches of records that come with their numbers."""
    while batch := list(islice(records, size)):
        numbers, values = zip(*batch, strict=True)
        yield checked_rows(name, unit, numbers, values, columns)


def _lines(file: IO[bytes], name: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, decoded; those that are blank are left out."""
    number = 0
    while line := file.readline(MOST_BYTES + 1):
        number += 1
        if len(line) > MOST_BYTES:
            raise CaptionFileError(
                f"a line has more than {MOST_BYTES:,} bytes",
                where=f"{name}: line {number:,}",
                help="write one row per line",
            )
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise EncodingError(
                "the file is not UTF-8 text",
                where=f"{name}: line {number:,}, byte {error.start + 1:,} of it",
                help="save it as UTF-8, for example: iconv -f latin1 -t utf-8",
            ) from None
        yield number, text


def _json_lines(file: IO[bytes], name: str) -> Iterator[tuple[int, Any]]:
    """Records of JSON lines with the numbers of their lines."""
    for number, line in _lines(file, name):
        if line.isspace():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _not_json(error, f"{name}: line {number:,}", truncated=not line.endswith("\n")) from None
        yield number, record


def _not_json(error: Exception, where: str, *, truncated: bool) -> CaptionFileError:
    if truncated:
        return TruncatedFileError(
            f"the JSON is truncated, or not JSON: {error}", where=where, help="download or write the file again"
        )
    return CaptionFileError(f"this is not JSON: {error}", where=where, help="fix the file there")


def _json_records(file: IO[bytes], name: str) -> Iterator[tuple[int, Any]]:
    """Records of a JSON list with their numbers, each parsed as soon as it has been read."""
    text = codecs.getreader("utf-8-sig")(file)
    decoder = json.JSONDecoder()
    waiting, at, number, ended = "", 0, 0, False

    def more() -> bool:
        nonlocal waiting, at, ended
        try:
            piece = text.read(_PIECE)
        except UnicodeDecodeError:
            raise EncodingError(
                "the file is not UTF-8 text",
                where=f"{name}: after record {number:,}",
                help="save it as UTF-8, for example: iconv -f latin1 -t utf-8",
            ) from None
        waiting, at, ended = waiting[at:] + piece, 0, not piece
        return not ended

    def next_sign() -> str:
        """The next character that is not white space; empty at the end."""
        nonlocal at
        while True:
            while at < len(waiting) and waiting[at] in " \t\r\n":
                at += 1
            if at < len(waiting) or not more():
                return waiting[at : at + 1]

    if (sign := next_sign()) != "[":
        if not sign:
            return
        raise CaptionFileError(
            "a .json shard must be a list of records", where=name, help="write JSON lines with the extension .jsonl"
        )
    at += 1
    while (sign := next_sign()) != "]":
        if number and sign == ",":
            at += 1
            next_sign()
        elif number:
            raise _not_json(ValueError("expected ',' or ']'"), f"{name}: after record {number:,}", truncated=not sign)
        while True:
            try:
                record, end = decoder.raw_decode(waiting, at)
                # A number may go on in the next piece, a record in braces ends with its brace.
                if end < len(waiting) or isinstance(record, dict) or not more():
                    break
            except (ValueError, RecursionError) as error:
                if len(waiting) - at > MOST_BYTES or not more():
                    where = f"{name}: record {number + 1:,}"
                    raise _not_json(error, where, truncated=ended and isinstance(error, ValueError)) from None
        at, number = end, number + 1
        yield number, record
    at += 1
    if next_sign():
        raise CaptionFileError(
            "there is more after the list of records", where=f"{name}: after record {number:,}", help="fix the file"
        )


def _delimited(file: IO[bytes], name: str, columns: Columns, size: int, delimiter: str) -> Iterator[Rows]:
    """Batches of csv or tsv with a header. A cell holds one text."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    begin = 1
    try:
        header = next((row for row in reader if row), None)
        if header is None:
            return
        named = columns.among(header, f"{name}: line {reader.line_num}")
        if repeated := [column for column in named.all if header.count(column) > 1]:
            raise CaptionFileError(f"two columns are called {repeated[0]!r}", where=name, help="rename one of them")
        places = {column: header.index(column) for column in named.all}
        begin = reader.line_num + 1
        numbers: list[int] = []
        rows: list[list[str]] = []
        for row in reader:
            if row and len(row) != len(header):
                raise CaptionFileError(
                    f"a row has {len(row)} cells where the header has {len(header)}",
                    where=f"{name}: line {begin:,}",
                    help="quote cells that contain the separator, and give every row the same number of cells",
                )
            if row:
                numbers.append(begin)
                rows.append(row)
            begin = reader.line_num + 1
            if len(rows) == size:
                yield _of_cells(name, numbers, rows, places, named)
                numbers, rows = [], []
        if rows:
            yield _of_cells(name, numbers, rows, places, named)
    except csv.Error as error:
        kind = TruncatedFileError if "unexpected end of data" in str(error) else CaptionFileError
        raise kind(
            f"this is not csv: {error}",
            where=f"{name}: in the row that starts at line {begin:,}",
            help='quote cells that contain quotes, and double the inner quotes: "a ""big"" cat"',
        ) from None
    except UnicodeDecodeError:
        raise EncodingError(
            "the file is not UTF-8 text",
            where=f"{name}: after line {begin:,}",
            help="save it as UTF-8, for example: iconv -f latin1 -t utf-8",
        ) from None
    finally:
        text.detach()  # the file is closed where it was opened


def _of_cells(name: str, numbers: list[int], rows: list[list[str]], places: dict[str, int], columns: Columns) -> Rows:
    values: dict[str, list[Any]] = {column: [row[place] for row in rows] for column, place in places.items()}
    if len(columns.references) > 1:  # rows need not all have the same number of references
        for column in columns.references:
            values[column] = [cell or None for cell in values[column]]
    return replace(checked_columns(name, "line", tuple(numbers), values, columns), ids_are_text=True)


def _parquet(file: IO[bytes], name: str, columns: Columns, size: int) -> Iterator[Rows]:
    """Batches of a parquet file; only the columns that are needed are read."""
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtraError(
            "reading parquet needs pyarrow, which is not installed", where=name, help="pip install 'captious[parquet]'"
        ) from None
    done = 0
    try:
        table = parquet.ParquetFile(file, pre_buffer=False)
        named = columns.among(table.schema_arrow.names, name)
        for batch in table.iter_batches(size, columns=list(named.all), use_threads=False):
            values = {column: batch.column(column).to_pylist() for column in named.all}
            if batch.num_rows:
                yield checked_columns(name, "row", range(done + 1, done + batch.num_rows + 1), values, named)
            done += batch.num_rows
    except UnicodeDecodeError:
        raise EncodingError(
            "a string is not UTF-8 text", where=f"{name}: after row {done:,}", help="write the file again"
        ) from None
    except arrow.ArrowException as error:
        raise CaptionFileError(
            f"this is not parquet, or it is damaged: {error}", where=name, help="download or write the file again"
        ) from None
