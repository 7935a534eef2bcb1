"""Output files of rows: csv, JSON lines and parquet. Files are written atomically."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from captious.errors import ParameterError, needed_for
from captious.files.atomic_write import check_place, whole_file


def check_row_file(path: str | os.PathLike[str], formats: Sequence[str], what: str) -> str:
    """Check that a file can be written, before any work is done.

    Args:
        path: the file.
        formats: allowed extensions.
        what: the kind of rows in messages, plural.

    Returns:
        The extension, in lower case.

    Raises:
        ParameterError: another extension.
        MissingExtraError: parquet without pyarrow.
        OutputError: a place that cannot be written to.
    """
    check_place(path)
    suffix = Path(path).suffix.lower()
    if suffix not in formats:
        raise ParameterError(
            f"{what} cannot be written as {suffix or 'a file without extension'}",
            where=str(path),
            help=f"use one of these extensions: {', '.join(formats)}",
        )
    if suffix == ".parquet":
        with needed_for("parquet", "parquet"):
            import pyarrow  # noqa: F401
    return suffix


def write_rows(
    path: str | os.PathLike[str], fields: Sequence[str], rows: Iterable[Sequence[Any]], metadata: Mapping[str, str]
) -> None:
    """Write rows in the format that the extension names: .csv, .jsonl or .parquet.

    Args:
        path: the file.
        fields: names of the columns.
        rows: plain values, one per field. Lists are written to csv as JSON.
        metadata: metadata of parquet files.

    Raises:
        OutputError: the file cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".parquet":
        columns = [[*column] for column in zip(*rows, strict=True)] or [[] for _ in fields]
        write_parquet(path, dict(zip(fields, columns, strict=True)), metadata)
        return
    with whole_file(path) as file:
        if suffix == ".csv":
            writer = csv_writer(file)
            writer.writerow(fields)
            writer.writerows([_csv_cell(value) for value in row] for row in rows)
        else:
            for row in rows:
                record = dict(zip(fields, row, strict=True))
                file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


def write_parquet(path: str | os.PathLike[str], columns: Mapping[str, Any], metadata: Mapping[str, str]) -> None:
    """Write columns; "id" holds image ids, written as 64-bit integers, or else all as strings."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ids = columns["id"]
    if not all(isinstance(i, int) and abs(i) < 2**63 for i in ids) and not all(isinstance(i, str) for i in ids):
        columns = {**columns, "id": [*map(str, ids)]}  # a column has one type
    table = pa.table(columns).replace_schema_metadata(metadata)
    with whole_file(path, "wb") as file:
        pq.write_table(table, file)


def csv_text(fields: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format rows under their header, with line feeds as line ends."""
    out = io.StringIO()
    writer = csv_writer(out)
    writer.writerow(fields)
    writer.writerows(rows)
    return out.getvalue()


def csv_row(row: Sequence[object]) -> str:
    """Format one row as ``csv_text`` does."""
    out = io.StringIO()
    csv_writer(out).writerow(row)
    return out.getvalue()


def csv_writer(file: IO[str]) -> Any:
    """Return a ``csv`` writer that ends lines with line feeds and quotes cells with a carriage return or line feed."""
    # csv.writer quotes only the characters that end its own lines; readers take either for the end of a line.
    return csv.writer(_Lines(file), lineterminator="\r\n")


class _Lines:
    """A file for a csv writer that replaces CRLF line ends with line feeds."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, line: str) -> None:
        self._file.write(line.removesuffix("\r\n") + "\n")


def _csv_cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
