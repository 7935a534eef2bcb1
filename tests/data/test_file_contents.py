"""Files that are not there, not readable, not packed right or not UTF-8."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from captious.data import read_rows
from captious.errors import CaptionFileError, EmptyInputError, EncodingError, TruncatedFileError
from tests.data.conftest import Refuses, Write


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


@pytest.mark.parametrize("content", [b"", b" \n\t\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
@pytest.mark.parametrize("name", ["c.json", "c.jsonl", "c.csv", "c.tsv", "c.parquet", "c.json.gz"])
def test_empty_file_is_refused(refuses: Refuses, write: Write, name: str, content: bytes) -> None:
    path = write(name, content)
    with refuses(EmptyInputError, "empty", path, "is this the right file for the candidates?"):
        read_rows(path, "candidates")


def test_truncated_gzip_is_refused(refuses: Refuses, tmp_path: Path) -> None:
    packed = gzip.compress(b'{"1": "a cat", "2": "a dog"}')
    path = tmp_path / "c.json.gz"
    for length in range(10, len(packed)):
        path.write_bytes(packed[:length])
        with refuses(TruncatedFileError, "gzip data is truncated", str(path), "again"):
            read_rows(path, "candidates")


def test_plain_file_named_gz_is_refused(refuses: Refuses, tmp_path: Path) -> None:
    path = tmp_path / "c.json.gz"
    path.write_bytes(b'{"1": "a cat"}')
    with refuses(CaptionFileError, "not gzip", str(path), "remove .gz from its name"):
        read_rows(path, "candidates")


def test_gzip_is_recognized_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(gzip.compress(b'{"1": "a cat"}'))
    assert read_rows(path, "candidates").texts == ("a cat",)


def test_damaged_gzip_is_refused(refuses: Refuses, tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(b'{"1": "a cat", "2": "a dog"}'))
    packed[-6] ^= 0xFF
    path = tmp_path / "c.json.gz"
    path.write_bytes(packed)
    with refuses(CaptionFileError, "damaged", str(path)):
        read_rows(path, "candidates")


@pytest.mark.parametrize(("bom", "offset"), [(b"", 26), (b"\xef\xbb\xbf", 29)])
def test_invalid_utf_8_is_refused_with_its_position(refuses: Refuses, write: Write, bom: bytes, offset: int) -> None:
    path = write("c.csv", bom + b"id,caption\n1,a cat\n2,a caf\xe9\n")
    with refuses(EncodingError, f"{path}: line 3, byte offset {offset} (0xe9)", "UTF-8"):
        read_rows(path, "candidates")


def test_utf_16_is_refused(refuses: Refuses, write: Write) -> None:
    with refuses(EncodingError, "line 1, byte offset 0 (0xff)", "iconv -f utf-16 "):
        read_rows(write("c.json", b"\xff\xfe" + '{"1": "a"}'.encode("utf-16-le")), "candidates")
