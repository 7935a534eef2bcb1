"""Rows of parquet files and of spreadsheets, which need packages of their own."""

from __future__ import annotations

import importlib
import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from captious.data.rows import Source
from captious.errors import CaptionFileError, EncodingError, TruncatedFileError, needed_for
from captious.files import RAISE_LIMIT, UnpackedSizeError, check_size

_ROWS = 1 << 12


def parquet_batches(
    file: IO[bytes], source: Source, choose: Callable[[list[str], str], Sequence[str]], size: int | None
) -> Iterator[tuple[Sequence[int], list[list[Any]]]]:
    """Yield the row numbers and the values of the chosen columns, batch by batch; see ``parse_rows``."""
    with needed_for("reading parquet", "parquet", where=source.name):
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    ends = _ends(file)
    packed = file.seek(0, 2)
    n_rows, n_bytes = 0, 0
    try:
        table = parquet.ParquetFile(file, pre_buffer=False)
        names = [*choose(table.schema_arrow.names, "columns")]
        if size is None:
            check_size(table.metadata.num_rows, packed)
        for batch in table.iter_batches(size or _ROWS, columns=[*dict.fromkeys(names)], use_threads=False):
            if size is None:
                n_bytes += batch.nbytes
                check_size(n_bytes, packed)
            numbers = range(n_rows + 1, n_rows + batch.num_rows + 1)
            if batch.num_rows:
                yield numbers, [_values(batch.column(name), name, numbers, source) for name in names]
            n_rows += batch.num_rows
    except UnpackedSizeError as error:
        raise CaptionFileError(f"the file is too large: {error}", where=source.name, hint=RAISE_LIMIT) from None
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # an error of the system, not of Arrow
            raise
        # The magic bytes open and close a parquet file; a truncated one has only the first.
        if ends[0] == b"PAR1" != ends[1]:
            raise TruncatedFileError(
                "the parquet file is truncated", where=source.name, hint="download or write the file again"
            ) from None
        raise CaptionFileError(
            f"this is not parquet, or it is damaged: {error}",
            where=source.name,
            hint="download or write the file again",
        ) from None


def _ends(file: IO[bytes]) -> tuple[bytes, bytes]:
    """Return the first and the last four bytes of a file."""
    start = file.read(4)
    file.seek(max(file.seek(0, 2) - 4, 0))
    return start, file.read(4)


def _values(column: Any, name: str, numbers: Sequence[int], source: Source) -> list[Any]:
    """Return the values of a chunk of a parquet column."""
    try:
        return list(column.to_pylist())
    except Exception:  # pyarrow raises many kinds of errors on values that Python cannot represent
        for number, value in zip(numbers, column, strict=True):
            where = f"{source.name}: row {number:,} of {name}"
            try:
                value.as_py()
            except UnicodeDecodeError:
                raise EncodingError(
                    "a string is not UTF-8 text", where=where, hint="write the file again with UTF-8 strings"
                ) from None
            except Exception as error:
                raise CaptionFileError(
                    f"a value cannot be read: {error}",
                    where=where,
                    hint="image ids must be integers or strings, and captions must be strings",
                ) from None
        raise


def spreadsheet_rows(file: IO[bytes], source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of the first sheet of an .xlsx file as records, with their numbers; the first row has the names.

    Raises:
        MissingExtraError: openpyxl is not installed.
        CaptionFileError: not a spreadsheet, or too large.
    """
    with needed_for("reading a spreadsheet", "xlsx", where=source.name):
        openpyxl = importlib.import_module("openpyxl")
    content = file.read()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            check_size(sum(entry.file_size for entry in archive.infolist()), len(content))
        sheet = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True).worksheets[0]
        lines = sheet.iter_rows(values_only=True)
        names = [str(name) for name in next(lines, ())]
        for number, line in enumerate(lines, 2):
            if any(cell is not None for cell in line):
                yield number, dict(zip(names, line, strict=False))
    except UnpackedSizeError as error:
        raise CaptionFileError(f"the file is too large: {error}", where=source.name, hint=RAISE_LIMIT) from error
    except (zipfile.BadZipFile, OSError, IndexError, KeyError, openpyxl.utils.exceptions.InvalidFileException) as error:
        raise CaptionFileError(
            f"this is not a spreadsheet: {error}", where=source.name, hint="save it again as .xlsx, or as .csv"
        ) from error
