"""Nebula: parquet files of the test split, without their images."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from captious.errors import CaptionFileError, ResourceError
from captious.judgment.judgments import RatedCaptions
from tests.support.judgments import load


def write(folder: Path, name: str, rows: list[dict[str, object]]) -> None:
    (folder / "nebula").mkdir(exist_ok=True)
    pl.DataFrame(rows).write_parquet(folder / "nebula" / name)


def row(image: str, candidate: str, references: list[str], score: float) -> dict[str, object]:
    return {"file_name": image, "image": b"\x00\xff", "refs": references, "mt": candidate, "human_score": score}


def test_nebula_parts_are_read_in_order(tmp_path: Path) -> None:
    write(tmp_path, "test-00001-of-00002.parquet", [row("b.jpg", "a cat", ["the cat", "a cow"], 0.25)])
    write(tmp_path, "test-00000-of-00002.parquet", [row("a.jpg", "a dog", ["the dog"], 1.0)])
    write(tmp_path, "train-00000-of-00001.parquet", [row("c.jpg", "a fox", ["the fox"], 1.0)])
    found = load(tmp_path, "nebula")
    assert isinstance(found, RatedCaptions)
    assert found.captions.candidates == ("a dog", "a cat")
    assert found.captions.references.texts == ("the dog", "the cat", "a cow")
    assert [each.tolist() for each in found.ratings] == [[1.0], [0.25]]
    assert found.protocol.statistic == "kendall-tau-c"
    assert sorted(found.data) == ["test-00000-of-00002.parquet", "test-00001-of-00002.parquet"]


def test_missing_nebula_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ResourceError) as caught:
        load(tmp_path, "nebula")
    assert "nebula/test-*.parquet" in caught.value.where


def test_malformed_nebula_files_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "test-0.parquet", [{"file_name": "a", "mt": "b", "human_score": 1.0}])
    with pytest.raises(CaptionFileError, match="no column refs"):
        load(tmp_path, "nebula")
    (tmp_path / "nebula" / "test-0.parquet").write_bytes(b"PAR1")
    with pytest.raises(CaptionFileError, match="parquet"):
        load(tmp_path, "nebula")


def test_nebula_corrections_replace_ratings(tmp_path: Path) -> None:
    rows = [row("b.jpg", "a  cat", ["the cat"], 0.25), row("b.jpg", "a dog", ["the cat"], 0.5)]
    write(tmp_path, "test-0.parquet", rows)
    with pytest.raises(ResourceError, match=r"spica_train\.csv"):
        load(tmp_path, "nebula@corrected-tau-c")
    for split, lines in {"train": "b.jpg,a cat,1.0\n", "val": 'b,"a cat",0.5\n', "test": "c.jpg,a dog,1.0\n"}.items():
        (tmp_path / "nebula" / f"spica_{split}.csv").write_text(f"imgid,mt,score\n{lines}")
    found = load(tmp_path, "nebula@corrected-tau-b")
    assert isinstance(found, RatedCaptions)
    assert [each.tolist() for each in found.ratings] == [[0.75], [0.5]]
    as_published = load(tmp_path, "nebula@tau-b")
    assert isinstance(as_published, RatedCaptions)
    assert [each.tolist() for each in as_published.ratings] == [[0.25], [0.5]]
