"""Files of word vectors in every form: read back as written, and errors name the place."""

from __future__ import annotations

import codecs
import gzip
import io
import pickle
import struct
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from captious.errors import ResourceError
from captious.resources.vectors import VectorFile
from tests.support.vector_files import (
    Vectors,
    binary_of,
    fasttext_of,
    fasttext_pieces,
    npz_of,
    text_of,
    write_keyed_vectors,
)

RNG = np.random.default_rng(2)
WORDS = ["the", "dog", "café", "犬", "a\u00a0b", "x" * 50, "7", "Dog"]
VECTORS = {word: RNG.normal(size=5).astype(np.float32) for word in WORDS}

pytestmark = pytest.mark.usefixtures("cache")


def npy_of(vectors: Vectors) -> bytes:
    file = io.BytesIO()
    np.save(file, np.stack([*vectors.values()]))
    return file.getvalue()


FORMS = {
    "glove text": text_of(VECTORS),
    "word2vec text": text_of(VECTORS, header=True),
    "fastText .vec": text_of(VECTORS, header=True, trailing=" "),
    "text with carriage returns": text_of(VECTORS).replace(b"\n", b"\r\n"),
    "text without the last line break": text_of(VECTORS)[:-1],
    "glove text with a byte order mark": codecs.BOM_UTF8 + text_of(VECTORS),
    "word2vec text with a byte order mark": codecs.BOM_UTF8 + text_of(VECTORS, header=True),
    "word2vec binary": binary_of(VECTORS),
    "word2vec binary without line breaks": binary_of(VECTORS, newline=False),
    "npz": npz_of(VECTORS),
    "fastText .bin": fasttext_of(VECTORS, np.zeros((0, 5)), longest=0),
}


def check(file: VectorFile, expected: Vectors = VECTORS) -> None:
    index = file.compiled(file.checksum())
    has_vector, vectors = index.look_up([*expected, "cat", "", "DOG"])
    assert len(index) == len(expected)
    assert has_vector.tolist() == [True] * len(expected) + [False] * 3
    np.testing.assert_array_equal(vectors[:-3], np.stack([*expected.values()]))
    assert not vectors[-3:].any()


def refused(file: VectorFile, reason: str, place: str = "") -> ResourceError:
    with pytest.raises(ResourceError) as caught:
        file.compiled(file.checksum())
    assert reason in caught.value.message
    assert caught.value.where == f"{file.path}{', ' if place else ''}{place}"
    assert caught.value.hint
    return caught.value


def written(tmp_path: Path, content: bytes) -> VectorFile:
    path = tmp_path / "vectors.any"
    path.write_bytes(content)
    return VectorFile(path)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("form", FORMS)
def test_every_form(form: str, packed: bool, tmp_path: Path) -> None:
    content = FORMS[form]
    check(written(tmp_path, gzip.compress(content) if packed else content))


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_numpy_array_needs_a_vocabulary_of_its_length(packed: bool, tmp_path: Path) -> None:
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("".join(f"{word}\n" for word in WORDS), encoding="utf-8")
    file = written(tmp_path, gzip.compress(npy_of(VECTORS)) if packed else npy_of(VECTORS))
    check(VectorFile(file.path, vocabulary))
    refused(file, "the words of its rows are unknown")
    vocabulary.write_text("one\ntwo\n")
    refused(VectorFile(file.path, vocabulary), "2 words for 8 vectors")
    refused(VectorFile(written(tmp_path, FORMS["glove text"]).path, vocabulary), "the file contains its own words")


@pytest.mark.parametrize("beside", [False, True], ids=["one file", "two files"])
def test_gensim_keyed_vectors_are_read(beside: bool, tmp_path: Path) -> None:
    path = tmp_path / "vectors.kv"
    write_keyed_vectors(path, VECTORS, beside=beside)
    check(VectorFile(path))
    if beside:
        (tmp_path / "vectors.kv.vectors.npy").unlink()
        refused(VectorFile(path), "vectors cannot be read from vectors.kv.vectors.npy")


def test_a_pickle_runs_nothing(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return print, ("run",)

    for value in (Evil(), {"words": Evil()}, [1, 2]):
        refused(written(tmp_path, pickle.dumps(value, protocol=4)), "not gensim KeyedVectors")


@pytest.mark.parametrize("name", ["words.npy", "vectors.npy"])
@pytest.mark.parametrize(
    ("field", "at", "value"), [("flags", 8, 1), ("method", 10, 99), ("method", 10, 14)], ids=["encrypted", "99", "lzma"]
)
def test_archives_that_numpy_does_not_write(name: str, field: str, at: int, value: int, tmp_path: Path) -> None:
    content = bytearray(npz_of(VECTORS))
    entry = content.index(b"PK\x01\x02", content.index(name.encode()) if name == "vectors.npy" else 0)
    while not content[entry + 46 :].startswith(name.encode()):
        entry = content.index(b"PK\x01\x02", entry + 1)
    content[entry + at] = value
    refused(written(tmp_path, bytes(content)), "not a readable .npz file")


def test_other_members_of_an_archive_are_ignored(tmp_path: Path) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("words", "the\ndog\n")
        archive.writestr("vectors", "1 2")
    refused(written(tmp_path, content.getvalue()), "not a numpy array")
    np.savez(content, words=np.array(WORDS), vectors=np.stack([*VECTORS.values()]), more=np.array([None]))
    check(written(tmp_path, content.getvalue()))


def test_archive_beyond_the_unpacked_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO()
    np.savez_compressed(content, words=np.array(["a", "b"]), vectors=np.zeros((2, 50_000), np.float32))
    file = written(tmp_path, content.getvalue())
    file.compiled(file.checksum())
    monkeypatch.setenv("CAPTIOUS_MAX_UNPACKED", "100K")
    error = refused(VectorFile(file.path, keep_first=True), "it unpacks to more than 102,400 bytes")
    assert "CAPTIOUS_MAX_UNPACKED" in error.hint


def test_words_that_are_not_characters(tmp_path: Path) -> None:
    words = np.array(["a", "b"])
    for wrong, reason in (("\ud800", "half of a character"), (0x110000, "not valid text")):
        content = io.BytesIO()
        if isinstance(wrong, str):
            words = np.array(["a", wrong])
        else:
            words.view(np.uint32)[1] = wrong
        np.savez(content, words=words, vectors=np.ones((2, 2), np.float32))
        refused(written(tmp_path, content.getvalue()), reason, "word 2" if isinstance(wrong, str) else "")
        words = np.array(["a", "b"])
    write_keyed_vectors(tmp_path / "x", {"a": np.ones(2, np.float32), "\ud800": np.zeros(2, np.float32)}, beside=False)
    refused(VectorFile(tmp_path / "x"), "half of a character", "word 2")
    file = written(tmp_path, FORMS["glove text"])
    assert not file.compiled(file.checksum()).look_up(["\ud800"])[0].any()


HEADER_OF_NPY = b"{'descr': '<f4', 'fortran_order': False, 'shape': (8, 5), }"


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"(" * 58,
        b"(" * 9_000,
        b"-" * 9_000 + b"1",
        b"-" * 400 + b"1",
        HEADER_OF_NPY.replace(b"'fortran", b"(fortran"),
        HEADER_OF_NPY.replace(b"(8, 5)", b"('x 5)"),
        HEADER_OF_NPY.replace(b"(8, 5)", b"(8, -5)"),
        HEADER_OF_NPY.replace(b"(8, 5)", b"(8, 6)"),
        HEADER_OF_NPY.replace(b"(8, 5)", b"(8, 99999999999999999999)"),
        HEADER_OF_NPY.replace(b"(8, 5)", b"(0, 99999999999999999999)"),
        HEADER_OF_NPY.replace(b"<f4", b"|O"),
        HEADER_OF_NPY.replace(b"<f4", b"<f3"),
        HEADER_OF_NPY.replace(b"<f4", b"|S0"),
        HEADER_OF_NPY.replace(b"'<f4'", b"[('a', '<f4')]"),
        HEADER_OF_NPY.replace(b"False", b"None"),
        HEADER_OF_NPY.replace(b", }", b", 'more': 1}"),
        HEADER_OF_NPY + b"+ 1",
    ],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_headers_of_npy_that_describe_no_array(header: bytes, packed: bool, tmp_path: Path) -> None:
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("".join(f"{word}\n" for word in WORDS), encoding="utf-8")
    content = npy_of(VECTORS)

    def with_header(changed: bytes) -> VectorFile:
        changed = changed.ljust(200) + b"\n"
        whole = content[:8] + len(changed).to_bytes(2, "little") + changed + content[-8 * 5 * 4 :]
        return VectorFile(written(tmp_path, gzip.compress(whole) if packed else whole).path, vocabulary)

    check(with_header(HEADER_OF_NPY))
    refused(with_header(header), "not a readable .npy file")


@pytest.mark.parametrize(("place", "value"), [(40, -5), (40, 2**31 - 1), (68, -3), (68, 0), (72, -1)])
def test_counts_of_fasttext_that_cannot_be(place: int, value: int, tmp_path: Path) -> None:
    content = bytearray(fasttext_of(VECTORS, N_GRAMS))
    struct.pack_into("<i", content, place, value)
    for subwords in (False, True):
        with pytest.raises(ResourceError):
            VectorFile(written(tmp_path, bytes(content)).path, subwords=subwords).compiled("0" * 16)


def test_numbers_of_fasttext_are_finite(tmp_path: Path) -> None:
    vectors = {"the": np.ones(5, np.float32), "dog": np.array([1, 2, np.nan, 4, 5], np.float32)}
    refused(written(tmp_path, fasttext_of(vectors, np.zeros((0, 5)), longest=0)), "not finite", "word 2")


def test_double_and_half_precision_vectors_are_read(tmp_path: Path) -> None:
    for dtype in (np.float64, np.float16):
        check(
            written(tmp_path, npz_of({word: vector.astype(dtype) for word, vector in VECTORS.items()})),
            {word: vector.astype(dtype).astype(np.float32) for word, vector in VECTORS.items()},
        )


def test_files_of_many_words_are_read(tmp_path: Path) -> None:
    # More than are read at a time, in all forms that are read piece by piece.
    numbers = np.arange(9_000 * 130, dtype=np.float32).reshape(9_000, 130) / 7
    vectors = {f"w{row}": vector for row, vector in enumerate(numbers)}
    for content in (text_of(vectors), binary_of(vectors), fasttext_of(vectors, np.zeros((0, 130)), longest=0)):
        check(written(tmp_path, content), vectors)


# ---- fastText

N_GRAMS = RNG.normal(size=(64, 5)).astype(np.float32)


def expected_fasttext(word: str, own: np.ndarray | None) -> np.ndarray:
    rows = [] if own is None else [own.astype(float)]
    rows += [N_GRAMS[bucket].astype(float) for bucket in fasttext_pieces(word, 3, 6, 64)]
    return np.mean(rows, axis=0)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("letters", [0, 1, 2, 3])  # so that the matrix begins at every place
def test_fasttext_model_is_read_with_and_without_subwords(letters: int, packed: bool, tmp_path: Path) -> None:
    own = {**VECTORS, "y" * (letters + 1): VECTORS["dog"], "</s>": VECTORS["the"]}
    content = fasttext_of(own, N_GRAMS)
    file = written(tmp_path, gzip.compress(content) if packed else content)
    words = [word for word in own if word != "</s>"]
    for subwords in (False, True):
        chosen = VectorFile(file.path, subwords=subwords)
        index = chosen.compiled(chosen.checksum())
        has_vector, vectors = index.look_up([*words, "</s>", "cats", ""])
        expected = [expected_fasttext(word, own[word]) for word in words]
        np.testing.assert_allclose(vectors[: len(words)], expected, rtol=1e-6, atol=1e-7)
        np.testing.assert_array_equal(vectors[len(words)], VECTORS["the"])  # which has no n-grams
        assert has_vector.tolist() == [*[True] * (len(words) + 1), subwords, False]
        if subwords:
            np.testing.assert_allclose(vectors[-2], expected_fasttext("cats", None), rtol=1e-6, atol=1e-7)


def test_subwords_of_a_file_without_them_are_refused(tmp_path: Path) -> None:
    refused(VectorFile(written(tmp_path, FORMS["glove text"]).path, subwords=True), "it contains no subwords")


# ---- what is wrong

TEXT = FORMS["glove text"].splitlines(keepends=True)


def joined(lines: list[bytes], row: int, line: bytes) -> bytes:
    return b"".join([*lines[:row], line, *lines[row + 1 :]])


def test_a_long_number_takes_no_time(tmp_path: Path) -> None:
    start = time.process_time()
    refused(
        written(tmp_path, b"a " + b"9" * 1_000_000 + b"x 1 x\n"), "expected a word followed by its numbers", "line 1"
    )
    assert time.process_time() - start < 2


def test_missing_vector_file_is_refused(tmp_path: Path) -> None:
    refused(VectorFile(tmp_path / "none"), "No such file")


def test_first_of_duplicate_words_is_kept_on_request(tmp_path: Path) -> None:
    content = joined(TEXT, 4, b"the 1 2 3 4 5\n")
    path = written(tmp_path, content).path
    first = VectorFile(path, keep_first=True)
    expected = {word: vector for row, (word, vector) in enumerate(VECTORS.items()) if row != 4}
    check(first, expected)
    assert first.checksum() != VectorFile(path).checksum()
    refused(VectorFile(path), "a duplicate", "line 5")


@pytest.mark.parametrize(
    "content",
    [
        b"3 4\ndog 0.1 0.2 0.3 0.4\ncow 0.5 0.6 0.7 0.8\nbird 0.9 0.1 0.2 0.3\n",  # as many bytes as if it were binary
        b"3 4\ndog 1 0 2 3\ncow -1 1 0 0\nbird 0 6 1 1\n",
        b"3 4\nnew york 0.1 0.2 0.3 0.4\ncow 1 2 3 4\nbird 0.5 0.5 0.5 0.5\n",
        b"new york 0.1 0.2 0.3 0.4\ncow 1 2 3 4\nbird 0.5 0.5 0.5 0.5\n",
    ],
)
def test_short_rows_of_text_are_text(content: bytes, tmp_path: Path) -> None:
    file = written(tmp_path, content)
    lines = [line for line in content.decode().splitlines() if line != "3 4"]
    check(file, {line.rsplit(" ", 4)[0]: np.array(line.split()[-4:], np.float32) for line in lines})
