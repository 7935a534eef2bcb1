"""Files of caption scores."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import sys
from pathlib import Path

import pytest

import captious
from captious.errors import MissingExtraError, OutputError, ParameterError
from captious.report import formats
from captious.report.formats import check_caption_file, write_captions

EXTENSIONS = [".jsonl", ".csv", ".parquet"]


def rows_of(path: Path) -> list[dict[str, object]]:
    """Return rows of a file of caption scores."""
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    if path.suffix == ".csv":
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    parquet = pytest.importorskip("pyarrow.parquet")
    return parquet.read_table(path).to_pylist()


class TestCaptionScores:
    @pytest.mark.parametrize("extension", [".jsonl", ".parquet"])
    @pytest.mark.parametrize("ids", [[7, 3], ["7", "b.jpg"], [2**40, -1]])
    @pytest.mark.filterwarnings("ignore:.*single letters:captious.CaptiousWarning")
    def test_ids_keep_their_type(self, tmp_path: Path, extension: str, ids: list[int | str]) -> None:
        report = captious.score(dict.fromkeys(ids, "a"), {i: ["a b", "c"] for i in ids}, ["rouge-l"])
        path = tmp_path / f"scores{extension}"
        write_captions(path, [report])
        assert [row["id"] for row in rows_of(path)] == ids

    @pytest.mark.filterwarnings("ignore:.*single letters:captious.CaptiousWarning")
    def test_jsonl_keeps_the_type_of_ids(self, tmp_path: Path) -> None:
        report = captious.score({7: "x", "08": "y"}, {7: ["a", "c"], "08": ["a", "c"]}, ["rouge-l"])
        write_captions(tmp_path / "scores.jsonl", [report])
        assert [row["id"] for row in rows_of(tmp_path / "scores.jsonl")] == [7, "08"]

    @pytest.mark.filterwarnings("ignore:.*single letters:captious.CaptiousWarning")
    def test_parquet_writes_huge_ids_as_text(self, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow")
        report = captious.score({2**70: "x"}, {2**70: ["a", "c"]}, ["rouge-l"])
        write_captions(tmp_path / "scores.parquet", [report])
        assert [str(row["id"]) for row in rows_of(tmp_path / "scores.parquet")] == [str(2**70)]

    def test_parquet_carries_signatures(self, first: captious.Report, tmp_path: Path) -> None:
        parquet = pytest.importorskip("pyarrow.parquet")
        write_captions(tmp_path / "scores.parquet", [first])
        metadata = parquet.read_schema(tmp_path / "scores.parquet").metadata
        for name, result in first.items():
            assert metadata[name.encode()].decode() == result.signature

    @pytest.mark.parametrize("name", ["scores.txt", "scores", "scores.json", "scores.csv.gz", ".csv"])
    def test_unknown_extension_is_refused(self, first: captious.Report, tmp_path: Path, name: str) -> None:
        for refused in (lambda: check_caption_file(tmp_path / name), lambda: write_captions(tmp_path / name, [first])):
            with pytest.raises(ParameterError) as caught:
                refused()
            assert ".jsonl, .csv, .parquet" in caught.value.hint
        assert list(tmp_path.iterdir()) == []

    def test_an_extension_in_capitals_is_fine(self, first: captious.Report, tmp_path: Path) -> None:
        write_captions(tmp_path / "SCORES.CSV", [first])
        assert (tmp_path / "SCORES.CSV").read_text(encoding="utf-8").startswith("id,candidate,")

    def test_parquet_without_pyarrow_is_refused(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(MissingExtraError, match="pyarrow") as caught:
            check_caption_file(tmp_path / "scores.parquet")
        assert caught.value.hint == "pip install 'captious[parquet]'"

    @pytest.mark.parametrize("extension", EXTENSIONS)
    def test_full_disk_leaves_no_caption_scores(
        self, first: captious.Report, tmp_path: Path, extension: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if extension == ".parquet":
            parquet = pytest.importorskip("pyarrow.parquet")
            monkeypatch.setattr(parquet, "write_table", self.fails_after_some_bytes)
        else:
            value = formats.json_value

            def fails_after_a_row(cell):
                if cell == first.ids[1]:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return value(cell)

            monkeypatch.setattr(formats, "json_value", fails_after_a_row)
        with pytest.raises(OutputError, match="cannot write"):
            write_captions(tmp_path / f"scores{extension}", [first])
        assert list(tmp_path.iterdir()) == []

    @staticmethod
    def fails_after_some_bytes(table: object, file: io.BufferedWriter) -> None:
        file.write(b"PAR1")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
