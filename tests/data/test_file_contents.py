"""Files that are not there, not readable, not packed right or not UTF-8."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from captious.data import read_rows
from captious.errors import CaptionFileError, TruncatedFileError
from tests.data.conftest import Refuses


def test_missing_file_is_named(refuses: Refuses, tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    with refuses(CaptionFileError, "no such file", str(path), "path of the candidates"):
        read_rows(path, "candidates")


@pytest.mark.parametrize(
    ("role", "advice"), [("references", "path of the references, or the captions"), ("groups", "a file of groups")]
)
def test_missing_file_is_refused_with_its_role(refuses: Refuses, role: Any, advice: str) -> None:
    with refuses(CaptionFileError, "there is no such file", "none.json", advice):
        read_rows("none.json", role)


def test_directory_is_refused(refuses: Refuses, tmp_path: Path) -> None:
    path = tmp_path / "folder.json"
    path.mkdir()
    with refuses(CaptionFileError, "directory", str(path), "references"):
        read_rows(path, "references")


@pytest.mark.parametrize("name", ["x" * 5000 + ".json", "nul\0.json"])
def test_impossible_path_is_refused(refuses: Refuses, name: str) -> None:
    with refuses(CaptionFileError, "cannot be read", "check its path"):
        read_rows(name, "candidates")


def test_truncated_gzip_is_refused(refuses: Refuses, tmp_path: Path) -> None:
    packed = gzip.compress(b'{"1": "a cat", "2": "a dog"}')
    path = tmp_path / "c.json.gz"
    for length in range(10, len(packed)):
        path.write_bytes(packed[:length])
        with refuses(TruncatedFileError, "gzip data is truncated", str(path), "again"):
            read_rows(path, "candidates")
