"""Word vectors from memory and from files: labels, look-up, copies in other processes."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from captious import Settings, WordVectors
from captious.errors import ParameterError, ResourceError
from captious.models.word_vectors import missing_vectors
from captious.resources import vectors as resource
from tests.support.vector_files import fasttext_of, text_of

WORDS, ROWS = ["dog", "cat", "犬"], np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def test_word_vectors_are_made_in_memory() -> None:
    vectors = WordVectors.of(WORDS, ROWS, "mine")
    has_vector, rows = vectors.look_up(["犬", "Dog", "dog"])
    assert has_vector.tolist() == [True, False, True]
    assert rows.tolist() == [[5, 6], [0, 0], [1, 2]]
    assert (len(vectors), vectors.width, vectors.origin) == (3, 2, "memory")
    assert vectors.label == f"mine-{vectors.checksum[:8]}"
    assert repr(vectors) == f"<WordVectors {vectors.label}: 3 words x 2>"


def test_the_checksum_is_that_of_the_content() -> None:
    same = [WordVectors.of(WORDS, ROWS), WordVectors.of(WORDS, ROWS.astype(float).tolist(), "other")]
    assert same[0].checksum == same[1].checksum
    others = [WordVectors.of(WORDS[::-1], ROWS), WordVectors.of(WORDS, ROWS + 1)]
    assert len({vectors.checksum for vectors in [same[0], *others]}) == 3


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        (WORDS, ROWS[:2]),
        (WORDS, ROWS[0]),
        ([], np.empty((0, 2))),
        (WORDS, np.empty((3, 0))),
        (WORDS, [[1, 2], [3, np.nan], [5, 6]]),
        (["dog", "cat", "dog"], ROWS),
        ([1, 2, 3], ROWS),
        (5, ROWS),
        (None, ROWS),
        (["dog", "cat", "\ud800"], ROWS),
        (WORDS, [[1, 2], [3, 1e300], [5, 6]]),
        (WORDS, [[1, 2], [3, 10**400], [5, 6]]),
    ],
)
def test_mismatched_words_and_rows_are_refused(words: list[str], rows: object) -> None:
    with pytest.raises(ParameterError):
        WordVectors.of(words, rows)  # type: ignore[arg-type]


def test_invalid_vector_name_is_refused() -> None:
    with pytest.raises(ParameterError, match="5 is not a valid name"):
        WordVectors.of(WORDS, ROWS, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize("what", [5, 1.5, [1, 2], b"small.txt"])
def test_values_that_are_not_vectors_are_refused(what: object) -> None:
    for ask in (WordVectors.open, lambda vectors: Settings(vectors=vectors)):
        with pytest.raises(ParameterError, match="are not word vectors"):
            ask(what)  # type: ignore[operator]


@pytest.mark.parametrize("of_a_file", [True, False])
def test_copies_of_word_vectors_share_an_index_file(
    of_a_file: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "small.txt"
    path.write_bytes(text_of(dict(zip(WORDS, ROWS, strict=True))))
    vectors = WordVectors.open(path) if of_a_file else WordVectors.of(WORDS, ROWS)
    copy = pickle.loads(pickle.dumps(vectors))
    assert copy.label == vectors.label
    assert copy.look_up(["cat"])[1].tolist() == [[3, 4]]
    assert (copy.index is vectors.index) == of_a_file  # in this process there is one already


def test_subwords_are_in_the_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "model.bin"
    path.write_bytes(fasttext_of(dict(zip(WORDS, ROWS, strict=True)), np.ones((8, 2))))
    resource.add(resource.VectorFile(path), "plain")
    resource.add(resource.VectorFile(path, subwords=True), "whole")
    assert WordVectors.open("whole").label.endswith("+subwords")
    assert not WordVectors.open("plain").label.endswith("+subwords")
    assert [WordVectors.open(name).look_up(["dogs"])[0][0] for name in ("plain", "whole")] == [False, True]


def test_damaged_vector_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "small.txt"
    path.write_bytes(text_of(dict(zip(WORDS, ROWS, strict=True))))
    WordVectors.open(path)
    resource._opened.cache_clear()
    (rows,) = (tmp_path / "cache").rglob("*.rows")
    rows.write_bytes(bytes(24))
    with pytest.raises(ResourceError, match="compiled word vectors are damaged: vector 1 ") as caught:
        WordVectors.open(path).look_up(["dog"])
    assert "--replace" in caught.value.hint


def test_missing_vectors_name_the_command_that_adds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_vectors() is None
    monkeypatch.delenv("CAPTIOUS_VECTORS")
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path))
    assert missing_vectors() == "captious vectors add FILE --name NAME"
