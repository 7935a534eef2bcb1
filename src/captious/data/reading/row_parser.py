"""The row parser: reads a file of captions in any format as batches of rows, and reports problems.

Callers choose the columns, the batch size, and how problems are handled: ``captious.read_captions`` and shards raise
the first one, the evaluation server collects all of them to show them together.
"""

from __future__ import annotations

import csv
import json
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, dropwhile, starmap
from typing import IO, Any, Final, TypeAlias

from captious.data.reading.file_contents import Format, text_lines
from captious.data.reading.json_files import (
    DECODER,
    MOST_BYTES,
    JsonRecords,
    RepeatedKeys,
    columns_of,
    json_lines,
    json_list,
)
from captious.data.reading.source import Refuse, RowProblem, Source, raise_error
from captious.errors import CaptionFileError, TruncatedFileError
from captious.phrases import counted

#: The names of the columns to read, from the names of all and their place in the file, such as "line 1".
Choose: TypeAlias = Callable[[list[str], str], Sequence[str]]

#: The value of a field that a record lacks.
MISSING: Final = object()


@dataclass(frozen=True)
class Batch:
    """Rows of a file.

    Args:
        unit: kind of row: "line", "record", "row".
        numbers: the line, record or row that each row starts in, counted from 1.
        columns: the values of each chosen column, one per row.
    """

    unit: str
    numbers: Sequence[int]
    columns: Sequence[Sequence[Any]]


def parse_rows(
    file: IO[bytes],
    format: Format,
    source: Source,
    choose: Choose,
    *,
    size: int | None = None,
    refuse: Refuse = raise_error,
    decoder: json.JSONDecoder = DECODER,
) -> Iterator[Batch]:
    """Yield the rows of a file in batches.

    Args:
        file: an uncompressed file.
        format: its format; JSON documents must be lists of records.
        source: the file in errors.
        choose: chooses columns, once.
        size: maximum rows of a batch; None to read the whole file, which must then fit in memory.
        refuse: called with every problem; if it returns, the row is skipped, or a field of it is ``MISSING``.
        decoder: parses JSON.

    Raises:
        EncodingError: text that is not UTF-8.
        CaptionFileError: a file that is damaged or not of the format; TruncatedFileError where it is truncated.
        MissingExtraError: parquet without pyarrow.
        InputError: what ``refuse`` and ``choose`` raise.
    """
    if format == "parquet":
        from captious.data.reading.parquet_files import parquet_batches

        return starmap(partial(Batch, "row"), parquet_batches(file, source, choose, size))
    longest = None if size is None else MOST_BYTES
    if format in ("csv", "tsv", "txt"):
        lines = text_lines(file, source, longest, carriage_returns=True)
        return _line_batches(lines, source, format, choose, size, refuse)
    if format == "jsonl":
        unit, records = "line", json_lines(text_lines(file, source, longest), source, refuse, decoder)
    else:
        unit, records = "record", json_list(file, source, decoder)
    return record_batches(source, batches_of_rows(records, size), unit, choose, refuse)


def record_batches(
    source: Source,
    batches: Iterable[tuple[Sequence[int], Sequence[Any]]],
    unit: str,
    choose: Choose,
    refuse: Refuse = raise_error,
) -> Iterator[Batch]:
    """Yield the rows of numbered records, all with the fields chosen from the first one; see ``parse_rows``."""
    fields: Sequence[str] = ()
    first = 0
    for numbers, records in batches:
        if not isinstance(records, JsonRecords) and set(map(type, records)) != {dict}:
            numbers, records = _objects(source, unit, numbers, records, refuse)
            if not records:
                continue
        if not fields:
            first = numbers[0]
            fields = choose([*records[0]], f"{unit} {first}")
        try:
            columns = columns_of(records, fields)
        except KeyError:  # looking before each access would cost more than reading them all
            for number, record in zip(numbers, records, strict=True):
                if lacking := tuple(field for field in fields if field not in record):
                    what = f"missing {' and '.join(map(repr, lacking))}, which {unit} {first} contains"
                    error = source.error(what, where=f"{unit} {number}: {reprlib.repr(record)}")
                    refuse(RowProblem("fields", number, error, fields=lacking))
            columns = [[record.get(field, MISSING) for record in records] for field in fields]
        yield Batch(unit, numbers, columns)


def _objects(
    source: Source, unit: str, numbers: Sequence[int], records: Sequence[Any], refuse: Refuse
) -> tuple[Sequence[int], Sequence[Any]]:
    """Return the records that are objects, with their numbers."""
    objects: list[tuple[int, Any]] = []
    for number, record in zip(numbers, records, strict=True):
        if not isinstance(record, Mapping):
            error = source.error("this is not an object", where=f"{unit} {number}: {reprlib.repr(record)}")
            refuse(RowProblem("record", number, error))
            continue
        if isinstance(record, RepeatedKeys):
            refuse(RowProblem("repeated", number, source.error("a key more than once", where=f"{unit} {number}")))
        objects.append((number, record))
    return [number for number, _ in objects], [record for _, record in objects]


def batches_of_rows(
    records: Iterable[tuple[int, Any]], size: int | None
) -> Iterator[tuple[Sequence[int], Sequence[Any]]]:
    """Yield numbered records, at most ``size`` at a time."""
    numbers: list[int] = []
    values: list[Any] = []
    for number, value in records:
        numbers.append(number)
        values.append(value)
        if len(values) == size:
            yield numbers, values
            numbers, values = [], []
    if values:
        yield numbers, values


def _line_batches(
    lines: Iterable[str], source: Source, format: Format, choose: Choose, size: int | None, refuse: Refuse
) -> Iterator[Batch]:
    """Yield rows of lines in one of the ``LINE_PATTERNS``, or of a table."""
    lines = iter(lines)
    numbered: Iterator[tuple[int, str]] = enumerate(lines, 1)
    if format == "txt":  # which may begin with comments
        numbered = dropwhile(lambda entry: entry[1].startswith("#") or not entry[1].strip(), numbered)
    number, first = next(numbered, (1, ""))
    from captious.data.reading.line_patterns import line_pattern

    pattern = line_pattern(first)
    if pattern is None:
        delimiter = "\t" if format == "tsv" or (format == "txt" and "\t" in first) else ","
        yield from _table_batches(chain([first], lines), source, delimiter, choose, size, refuse, first=number)
        return
    where = f"line {number}"
    places = [pattern.columns.index(name) for name in choose(pattern.columns, where)]
    rows = pattern.rows(numbered if pattern.has_header else chain([(number, first)], numbered), source, refuse)
    for numbers, cells in batches_of_rows(rows, size):
        yield Batch("line", numbers, [[row[place] for row in cells] for place in places])


def _table_batches(
    lines: Iterable[str],
    source: Source,
    delimiter: str,
    choose: Choose,
    size: int | None,
    refuse: Refuse,
    *,
    first: int,
) -> Iterator[Batch]:
    """Yield rows of csv or tsv with a header; cells that contain the delimiter or line breaks are in double quotes."""
    rows = _table_rows(csv.reader(lines, delimiter=delimiter, strict=True), source, refuse, first)
    number, header = next(rows, (0, []))
    if not header:
        return
    places = [header.index(name) for name in choose(header, f"line {number}")]
    for numbers, cells in batches_of_rows(rows, size):
        yield Batch("line", numbers, [[row[place] for row in cells] for place in places])


def _table_rows(reader: Any, source: Source, refuse: Refuse, first: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and the non-blank rows of csv, with the numbers of the lines in which they start."""
    line, width = first, 0
    try:
        for row in reader:
            width = width or len(row)
            if len(row) == width:
                if row:
                    yield line, row
            elif row:
                uneven = CaptionFileError(
                    f"a row has {counted(len(row), 'cell')} where the header has {width}",
                    where=f"{source.name}: line {line}",
                    help="quote cells that contain the separator, and give every row the same number of cells",
                )
                refuse(RowProblem("cells", line, uneven))
            line = reader.line_num + first
    except csv.Error as error:
        kind: type[CaptionFileError] = CaptionFileError
        problem, detail = f"this is not csv: {error}", str(error)
        help = 'quote cells that contain quotes, and double the inner quotes: "a ""big"" cat"'
        if "unexpected end of data" in detail:
            kind, problem = TruncatedFileError, "the file ends inside double quotes"
            detail, help = problem, "close the quotes there, or download the file again if it is truncated"
        elif "field larger than field limit" in detail:
            problem = detail = f"a cell has more than {csv.field_size_limit():,} characters"
            help = "close the quotes there if they are open; for captions this long, use .jsonl"
        where = f"{source.name}: in the row that starts at line {line}"
        refuse(RowProblem("csv", line, kind(problem, where=where, help=help), detail))
