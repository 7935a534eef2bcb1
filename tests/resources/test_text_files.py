"""Small text files that users name."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from captious.errors import ResourceError
from captious.resources.text_files import resource_text, text_as_json


def test_plain_and_packed_text_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffécole\n".encode())
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("école\n".encode()))
    assert resource_text(tmp_path / "a.txt", "words", "") == resource_text(tmp_path / "a.txt.gz", "words", "")


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xff", gzip.compress(b"a" * 99)[:-6]])
def test_errors_say_what_and_where(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.gz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ResourceError, match="cannot read the words") as caught:
        resource_text(path, "the words", "write them")
    assert caught.value.where == str(path) and caught.value.help == "write them"


def test_a_file_that_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_MAX_UNPACKED", "1M")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"a" * (2 << 20)))
    with pytest.raises(ResourceError, match="the words: the file is too large"):
        resource_text(tmp_path / "a.gz", "the words", "write them")


def test_json(tmp_path: Path) -> None:
    assert text_as_json('{"a": 1}', "a.json", "") == {"a": 1}
    for text in ("{", "[" * 100_000):
        with pytest.raises(ResourceError, match="not JSON"):
            text_as_json(text, "a.json", "")
