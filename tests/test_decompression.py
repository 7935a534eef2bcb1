"""Gzip files up to a limit, which users can raise: one limit for every reader."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from captious.data import read_rows
from captious.errors import CaptiousError, ParameterError, ResourceError
from captious.files import UnpackedSizeError, check_size, plain_content, unpacked, user_text
from captious.judgment.files import load_own
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.parsing.parse_files import read_parses
from captious.resources import meteor_tables as meteor
from captious.resources.vectors import VectorFile
from captious.text.stop_words import as_stop_words
from tests.support.meteor_files import PARAPHRASES, MeteorFiles

CONTENT = b"a" * 100_000
PACKED = gzip.compress(CONTENT)


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda value: monkeypatch.setenv("CAPTIOUS_MAX_UNPACKED", value)


def test_compression_is_recognized_by_content() -> None:
    for name in ("x.json", "x.json.gz"):
        assert plain_content(PACKED, name) == CONTENT
    assert plain_content(PACKED + PACKED, "x") == CONTENT * 2
    assert plain_content(CONTENT, "x") == CONTENT
    assert plain_content(b"", "x.gz") == b""
    with pytest.raises(gzip.BadGzipFile):
        plain_content(CONTENT, "x.gz")


@pytest.mark.parametrize(
    ("value", "fits"), [("100000", True), ("99999", False), ("98K", True), ("97k", False), ("1T", True)]
)
def test_content_beyond_the_limit_is_refused(value: str, fits: bool, limit: Callable[[str], None]) -> None:
    limit(value)
    if fits:
        assert plain_content(PACKED, "x") == CONTENT
        return
    with pytest.raises(UnpackedSizeError, match="it unpacks to more than"):
        plain_content(PACKED, "x")


def test_eight_times_the_file_is_never_too_much(limit: Callable[[str], None]) -> None:
    limit("1")
    content = bytes(range(256)) * 10
    assert plain_content(gzip.compress(content, 0), "x") == content
    check_size(800, 100)
    with pytest.raises(UnpackedSizeError, match="more than 800 bytes"):
        check_size(801, 100)


@pytest.mark.parametrize("value", ["-1", "much", "1.5G", "8GB", "9" * 30])
def test_invalid_limits_are_refused(value: str, limit: Callable[[str], None]) -> None:
    limit(value)
    with pytest.raises(ParameterError, match="CAPTIOUS_MAX_UNPACKED is"):
        plain_content(PACKED, "x")


def test_seeking_beyond_the_limit_is_refused(limit: Callable[[str], None]) -> None:
    content = bytes(range(256)) * 400
    file = unpacked(io.BytesIO(gzip.compress(content)))
    assert file.seek(0, io.SEEK_END) == len(content)
    file.seek(300)
    assert (file.read(3), file.tell()) == (content[300:303], 303)
    file.seek(-3, io.SEEK_CUR)
    assert file.read() == content[300:]
    limit("100")
    file = unpacked(io.BytesIO(gzip.compress(content)))
    for offset, whence in ((10**9, io.SEEK_SET), (0, io.SEEK_END)):
        with pytest.raises(UnpackedSizeError):
            file.seek(offset, whence)


def vectors_of_these_words(vocabulary: Path) -> None:
    array = vocabulary.with_name("array.npy")
    np.save(array, np.ones((1, 2), np.float32))
    VectorFile(array, vocabulary).compiled("0" * 16)


def tables_with_these_paraphrases(paraphrases: Path) -> None:
    written = MeteorFiles().write(paraphrases.with_name("tables"), data="")
    (written / PARAPHRASES).write_bytes(paraphrases.read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAPTIOUS_METEOR_HOME", str(written))
        patch.setenv("CAPTIOUS_CACHE", str(paraphrases.with_name("cache")))
        try:
            meteor.tables().build()
        except ResourceError as error:
            assert str(written) in error.where
            raise ResourceError(error.message, where=str(paraphrases), hint=error.hint) from error


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("x.json.gz", lambda path: read_rows(path, "candidates")),
        ("x.jsonl.gz", load_own),
        ("x.jsonl.gz", read_parses),
        ("x.txt.gz", as_stop_words),
        ("x.txt.gz", lambda path: VectorFile(path).checksum()),
        ("x.gz", vectors_of_these_words),
        ("x.idf", DocumentFrequencies.load),
        ("paraphrase-en.gz", tables_with_these_paraphrases),
    ],
    ids=["captions", "judgments", "parses", "stop words", "vectors", "vocabulary", "frequencies", "paraphrases"],
)
def test_every_reader_respects_the_unpacked_limit(
    name: str, read: Callable[[Path], object], tmp_path: Path, limit: Callable[[str], None]
) -> None:
    path = tmp_path / name
    path.write_bytes(PACKED)
    if name == "x.idf":
        np.savez_compressed(tmp_path / "x.npz", words=np.zeros(100_000, np.uint8))
        (tmp_path / "x.npz").rename(path)
    limit("10K")
    with pytest.raises(CaptiousError, match="it unpacks to more than 10,240 bytes") as caught:
        read(path)
    assert "CAPTIOUS_MAX_UNPACKED" in caught.value.hint
    assert str(path) in caught.value.where


def test_plain_and_packed_text_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffécole\n".encode())
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("école\n".encode()))
    assert user_text(tmp_path / "a.txt", "words", "") == user_text(tmp_path / "a.txt.gz", "words", "")


@pytest.mark.parametrize(
    "content", [None, b"\xff\xfe\xff", gzip.compress(b"a" * 99, mtime=0)[:-6]], ids=["none", "utf-16", "cut"]
)
def test_errors_say_what_and_where(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.gz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ResourceError, match="cannot read the words") as caught:
        user_text(path, "the words", "write them")
    assert str(caught.value.where).startswith(str(path))
    assert caught.value.hint == "write them"
