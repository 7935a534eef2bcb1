"""Stop words from files, words and by default."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest

from captious.errors import ParameterError, ResourceError
from captious.metrics.wmd import Wmd
from captious.text.stop_words import NLTK_STOP_WORDS, StopWords, as_stop_words


def test_the_default_is_the_list_of_nltk() -> None:
    assert as_stop_words(None) is NLTK_STOP_WORDS
    assert NLTK_STOP_WORDS.name == "nltk"
    assert "the" in NLTK_STOP_WORDS
    assert "The" not in NLTK_STOP_WORDS


def test_stop_words_are_read_from_plain_and_compressed_files(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("a\nthe \n\nthe\nécole\n", encoding="utf-8")
    (tmp_path / "list.txt.gz").write_bytes(gzip.compress((tmp_path / "list.txt").read_bytes()))
    plain, compressed = as_stop_words(tmp_path / "list.txt"), as_stop_words(str(tmp_path / "list.txt.gz"))
    assert plain == compressed
    assert plain.words == {"a", "the", "école"}
    assert plain.name.startswith("list-")


def test_names_tell_lists_apart(tmp_path: Path) -> None:
    assert as_stop_words(["b", "a"]) == as_stop_words(["a", "b", "a"])
    assert as_stop_words(["a"]).name != as_stop_words(["b"]).name
    assert as_stop_words(["a"]).name.startswith("own-")
    (tmp_path / "odd|name 1.txt").write_text("a")
    assert as_stop_words(tmp_path / "odd|name 1.txt").name.startswith("odd_name_1-")
    mine = StopWords("mine", frozenset({"a"}))
    assert as_stop_words(mine) is mine


def test_signatures_depend_on_words_but_not_their_order() -> None:
    """Neither on the order in which they are given, nor on that of a set, which differs from run to run."""
    words = ["some", "of", "the", "words", "that", "no", "caption", "needs"]
    names = {as_stop_words(given).name for given in (words, words[::-1], set(words), sorted(words), words * 2)}
    by_hand = f"{zlib.crc32(chr(10).join(sorted(words)).encode()):08x}"
    assert names == {f"own-{by_hand}"}
    signatures = {Wmd(stop_words=given).signatures()[0] for given in (words, words[::-1], set(words))}
    assert len(signatures) == 1
    assert f"|stop-words:own-{by_hand}|" in signatures.pop()


def test_prepared_references_depend_on_words_but_not_their_order() -> None:
    words = ["some", "of", "the", "words", "that", "no", "caption", "needs"]
    stored = {StopWords("mine", frozenset(given)).stored_as for given in (words, words[::-1])}
    assert stored == {f"mine@{zlib.crc32(chr(0).join(sorted(words)).encode()):08x}"}


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="cannot read stop words"):
        as_stop_words(tmp_path / "missing.txt")
    for name, content in {
        "latin.txt": "école".encode("latin-1"),
        "plain.gz": b"a",
        "cut.gz": gzip.compress(b"a")[:-6],
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ResourceError):
            as_stop_words(tmp_path / name)


def test_words_are_strings() -> None:
    with pytest.raises(ParameterError, match="must be strings"):
        as_stop_words([1])  # type: ignore[list-item]
