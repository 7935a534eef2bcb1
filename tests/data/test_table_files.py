"""csv, tsv and parquet files that are broken or lack a column."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest

from captious.data import read_captions, read_rows
from captious.errors import (
    CaptionFileError,
    UnknownImageError,
)
from tests.data.conftest import Refuses, Write


def parquet(columns: dict[str, object]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


def test_whole_floats_in_parquet_match_by_the_rule_for_integers(refuses: Refuses, write: Write) -> None:
    """Programs write them where other ids are missing."""
    path = write("c.parquet", parquet({"id": [1.0, 2.0], "caption": ["a", "b"]}))
    references = {1: ["a"], 2: ["b"]}
    with refuses(UnknownImageError, "'1.0', '2.0'", 'ids="integer"'):
        read_captions(path, references)
    assert read_captions(path, references, ids="integer").ids == (1, 2)


def parquet_of(folder: Path, ids: object, captions: object, *, packed: str = "none") -> Path:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = folder / "c.parquet"
    parquet.write_table(arrow.table({"image_id": ids, "caption": captions}), path, compression=packed)
    return path


def test_parquet_larger_than_the_limit_is_refused(
    refuses: Refuses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = parquet_of(tmp_path, list(range(10_000)), ["a" * 1_000] * 10_000, packed="snappy")
    assert len(read_rows(path, "candidates").texts) == 10_000
    monkeypatch.setenv("CAPTIOUS_MAX_UNPACKED", "1M")
    with refuses(CaptionFileError, "it unpacks to more than 1,048,576 bytes", "CAPTIOUS_MAX_UNPACKED"):
        read_rows(path, "candidates")
