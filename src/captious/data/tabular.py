"""Tables of captions: csv, tsv and parquet files, pandas and polars data frames.

A column of image ids and a column of captions, named as the fields of records are. csv and tsv have one row
per caption; the others may also have one row per image and lists of captions.
"""

from __future__ import annotations

import csv
import importlib
import io
import sys
from collections.abc import Callable, Sequence
from typing import Any

from captious.data.rows import CaptionRows, Source, caption_rows
from captious.data.shapes import choose_fields
from captious.errors import CaptionFileError, EncodingError, MissingExtraError, TruncatedFileError
from captious.unpacking import RAISE_LIMIT, UnpackedSizeError, check_size

__all__ = ["is_data_frame", "parquet_columns", "read_delimited", "read_parquet", "rows_of_data_frame"]

# A cell of csv is one string: what a column named for lists holds (JSON? a separator?) would be a guess.
_SINGLE_TEXT_COLUMNS = ("caption", "candidate")
# Rows of parquet that are unpacked at a time, before what they take is looked at.
_ROWS = 1 << 12


def read_delimited(text: str, source: Source, *, delimiter: str) -> CaptionRows:
    """Rows of csv or tsv text with a header; cells that hold the delimiter or line breaks are in double quotes.

    Raises:
        TruncatedFileError: the file ends inside quotes.
        CaptionFileError: a column that is missing, or a row with too few or too many cells.
        and what ``caption_rows`` raises.
    """
    # Line breaks inside a quoted caption belong to it: newline="" leaves them as they are.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines: list[int] = []
    rows: list[list[str]] = []
    line = 1
    try:
        for row in reader:
            if row:
                lines.append(line)
                rows.append(row)
            line = reader.line_num + 1
    except csv.Error as error:
        raise _broken(source, line, error) from None
    header, *rows = rows
    header_line, *lines = lines
    where = f"line {header_line}"
    id_field, text_field = choose_fields(source, header, where=where)
    if source.role != "groups" and text_field not in _SINGLE_TEXT_COLUMNS:
        raise source.error(
            f"{text_field!r} is a column of lists, but a cell of this format holds only one caption", where=where
        )
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(header):
            raise CaptionFileError(
                f"a row has {len(row)} cells where the header has {len(header)}",
                where=f"{source.name}: line {line}",
                help="quote cells that contain the separator, and give every row the same number of cells",
            )
    id_column, text_column = header.index(id_field), header.index(text_field)
    return caption_rows(
        source,
        [row[id_column] for row in rows],
        [row[text_column] for row in rows],
        unit="line",
        numbers=lines,
        id_form="text",
    )


def _broken(source: Source, line: int, error: csv.Error) -> CaptionFileError:
    """The error for csv whose quoting is wrong in the row that starts at a line."""
    if "unexpected end of data" in str(error):
        return TruncatedFileError(
            "the file ends inside double quotes",
            where=f"{source.name}: in the row that starts at line {line}",
            help="close the quotes there, or download the file again if it is truncated",
        )
    if "field larger than field limit" in str(error):
        return CaptionFileError(
            f"a cell has more than {csv.field_size_limit():,} characters",
            where=f"{source.name}: in the row that starts at line {line}",
            help="close the quotes there if they are open; for captions this long, use .jsonl",
        )
    return CaptionFileError(
        f"this is not csv: {error}",
        where=f"{source.name}: in the row that starts at line {line}",
        help='quote cells that contain quotes, and double the inner quotes: "a ""big"" cat"',
    )


def read_parquet(data: bytes, source: Source) -> CaptionRows:
    """Rows of a parquet file; only the two columns that matter are read.

    Raises:
        what ``parquet_columns`` and ``caption_rows`` raise.
    """
    ids, values = parquet_columns(data, source, lambda names: choose_fields(source, names, where="columns"))
    return caption_rows(source, ids, values, unit="row", numbers=range(1, len(ids) + 1))


def parquet_columns(data: bytes, source: Source, choose: Callable[[list[str]], Sequence[str]]) -> list[list[Any]]:
    """The values of some columns of a parquet file.

    Args:
        data: what the file holds.
        source: what messages call it.
        choose: the columns to read, from the names of all.

    Raises:
        MissingExtraError: pyarrow is not installed.
        TruncatedFileError: a truncated parquet file.
        CaptionFileError: not parquet, or damaged, or too large.
        what ``choose`` raises.
    """
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtraError(
            "reading parquet needs pyarrow, which is not installed",
            where=source.name,
            help="pip install 'captious[parquet]'",
        ) from None
    try:
        file = parquet.ParquetFile(arrow.BufferReader(data))
        names = file.schema_arrow.names
        fields = choose(names)
        check_size(file.metadata.num_rows, len(data))
        size, tables = 0, []
        for batch in file.iter_batches(_ROWS, columns=list(fields)):
            size += batch.nbytes
            check_size(size, len(data))
            tables.append(batch)
        return [_values([batch.column(name) for batch in tables], name, source) for name in fields]
    except UnpackedSizeError as error:
        raise CaptionFileError(f"the file is too large: {error}", where=source.name, help=RAISE_LIMIT) from None
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        # The magic bytes open and close a parquet file; a truncated one has only the first.
        if data.startswith(b"PAR1") and not data.endswith(b"PAR1"):
            raise TruncatedFileError(
                "the parquet file is truncated", where=source.name, help="download or write the file again"
            ) from None
        raise CaptionFileError(
            f"this is not parquet, or it is damaged: {error}",
            where=source.name,
            help="download or write the file again",
        ) from None


def _values(columns: Sequence[Any], name: str, source: Source) -> list[Any]:
    """The values of a column of parquet, which comes in parts."""
    try:
        return [value for column in columns for value in column.to_pylist()]
    except Exception:  # pyarrow raises many kinds of errors on values that Python cannot represent
        values = (value for column in columns for value in column)
        for row, value in enumerate(values, 1):
            try:
                value.as_py()
            except UnicodeDecodeError:
                raise EncodingError(
                    "a string is not UTF-8 text",
                    where=f"{source.name}: row {row:,} of {name}",
                    help="write the file again with UTF-8 strings",
                ) from None
            except Exception as error:
                raise CaptionFileError(
                    f"a value cannot be read: {error}",
                    where=f"{source.name}: row {row:,} of {name}",
                    help="image ids must be integers or strings, and captions must be strings",
                ) from None
        raise


def is_data_frame(captions: object) -> bool:
    """Whether this is a pandas or polars data frame; imports neither: the library of a data frame already is."""
    modules = [sys.modules[name] for name in ("pandas", "polars") if name in sys.modules]
    return any(isinstance(captions, module.DataFrame) for module in modules)


def rows_of_data_frame(source: Source, frame: Any) -> CaptionRows:
    """Rows of a data frame; messages count its rows from 0, whatever its index. Raises what ``read_parquet`` does."""
    fields = choose_fields(source, list(frame.columns), where="columns")
    ids, values = (frame[name].to_list() for name in fields)
    return caption_rows(source, ids, values, unit="row index", numbers=range(len(ids)))
