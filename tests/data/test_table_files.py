"""csv, tsv and parquet files that are broken or lack a column."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest

from captious.data import read_captions, read_rows
from captious.errors import (
    CaptionFileError,
    CaptionTypeError,
    EmptyInputError,
    EncodingError,
    TruncatedFileError,
    UnknownImageError,
)
from tests.data.conftest import Refuses, Write


def test_missing_column_is_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.csv", "image,text\n7,a\n")
    with refuses(
        CaptionFileError, path, "missing field for candidates", "line 1: found 'image', 'text'", "image_id,caption"
    ):
        read_rows(path, "candidates")


def test_table_without_header_is_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.tsv", "7\ta cat\n9\ta dog\n")
    with refuses(CaptionFileError, path, "line 1: '7,a cat'", "there is no header"):
        read_rows(path, "candidates")


def test_duplicate_column_is_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.csv", "id,caption,caption\n7,a,b\n")
    with refuses(CaptionFileError, path, "duplicate", "'id', 'caption', 'caption'"):
        read_rows(path, "candidates")


def test_list_columns_are_refused_in_csv(refuses: Refuses, write: Write) -> None:
    path = write("r.csv", "image,refs\n7,a or b\n")
    with refuses(CaptionFileError, path, "'refs' is a column of lists", "one row per caption"):
        read_rows(path, "references")


@pytest.mark.parametrize(("row", "cells"), [("9", "1 cell"), ("9,a dog, red", "3 cells")])
def test_wrong_number_of_cells_is_refused(refuses: Refuses, write: Write, row: str, cells: str) -> None:
    path = write("c.csv", f'id,caption\n\n7,"a\ncat"\n{row}\n')
    with refuses(CaptionFileError, f"{path}: line 5", f"a row has {cells} where the header has 2", "quote cells"):
        read_rows(path, "candidates")


def test_header_without_rows_is_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.csv", "id,caption\n")
    with refuses(EmptyInputError, path, "there are no captions"):
        read_rows(path, "candidates")


def test_unclosed_quotes_are_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.csv", 'id,caption\n7,a\n9,"a dog\n8,a cow\n')
    with refuses(TruncatedFileError, f"{path}: in the row that starts at line 3", "close the quotes"):
        read_rows(path, "candidates")


def test_unclosed_last_cell_is_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.csv", "id,caption\n7,a\n9," + "a" * 200_000 + "\n")
    with refuses(
        CaptionFileError, f"{path}: in the row that starts at line 3", "more than 131,072 characters", ".jsonl"
    ):
        read_rows(path, "candidates")


def test_unescaped_quotes_are_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.csv", 'id,caption\n7,"a "big" cat"\n')
    with refuses(CaptionFileError, f"{path}: in the row that starts at line 2", "not csv", '""big""'):
        read_rows(path, "candidates")


def parquet(columns: dict[str, object]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


def test_parquet_without_the_column_is_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.parquet", parquet({"id": [1], "text": ["a"]}))
    with refuses(CaptionFileError, path, "missing field for candidates", "columns: found 'id', 'text'"):
        read_rows(path, "candidates")


def test_null_and_float_ids_in_parquet_are_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.parquet", parquet({"id": [1, 2], "caption": ["a", None]}))
    with refuses(CaptionTypeError, f"{path}: row 2 (image_id 2) is None"):
        read_rows(path, "candidates")
    path = write("c.parquet", parquet({"id": [1.5, 2.5], "caption": ["a", "b"]}))
    with refuses(CaptionTypeError, f"{path}: row 1 has 1.5, row 2 has 2.5"):
        read_rows(path, "candidates")


def test_whole_floats_in_parquet_match_by_the_rule_for_integers(refuses: Refuses, write: Write) -> None:
    """Programs write them where other ids are missing."""
    path = write("c.parquet", parquet({"id": [1.0, 2.0], "caption": ["a", "b"]}))
    references = {1: ["a"], 2: ["b"]}
    with refuses(UnknownImageError, "'1.0', '2.0'", 'ids="integer"'):
        read_captions(path, references)
    assert read_captions(path, references, ids="integer").ids == (1, 2)


def test_truncated_parquet_is_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.parquet", parquet({"id": [1], "caption": ["a"]})[:-20])
    with refuses(TruncatedFileError, path, "truncated", "again"):
        read_rows(path, "candidates")


def test_other_files_named_parquet_are_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.parquet", "id,caption\n1,a\n")
    with refuses(CaptionFileError, path, "not parquet", "again"):
        read_rows(path, "candidates")


def parquet_of(folder: Path, ids: object, captions: object, *, packed: str = "none") -> Path:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = folder / "c.parquet"
    parquet.write_table(arrow.table({"image_id": ids, "caption": captions}), path, compression=packed)
    return path


def test_invalid_utf_8_in_parquet_is_refused(refuses: Refuses, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    path = parquet_of(tmp_path, [1, 2], arrow.array([b"a cat", b"caf\xe9"]).view(arrow.string()))
    with refuses(EncodingError, "not UTF-8", f"{path}: row 2 of caption"):
        read_rows(path, "candidates")


@pytest.mark.parametrize(("unit", "value"), [("ms", 2**60), ("us", 2**62), ("date", 2**30)])
def test_unrepresentable_dates_in_parquet_are_refused(refuses: Refuses, tmp_path: Path, unit: str, value: int) -> None:
    arrow = pytest.importorskip("pyarrow")
    type = arrow.date32() if unit == "date" else arrow.timestamp(unit)
    path = parquet_of(tmp_path, arrow.array([0, value], type), ["a", "b"])
    with refuses(CaptionFileError, "a value cannot be read", f"{path}: row 2 of image_id", "integers or strings"):
        read_rows(path, "candidates")


def test_parquet_larger_than_the_limit_is_refused(
    refuses: Refuses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = parquet_of(tmp_path, list(range(10_000)), ["a" * 1_000] * 10_000, packed="snappy")
    assert len(read_rows(path, "candidates").texts) == 10_000
    monkeypatch.setenv("CAPTIOUS_MAX_UNPACKED", "1M")
    with refuses(CaptionFileError, "it unpacks to more than 1,048,576 bytes", "CAPTIOUS_MAX_UNPACKED"):
        read_rows(path, "candidates")
