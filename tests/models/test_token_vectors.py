"""Token vectors: the form in a file is that in memory, and no file is left."""

from __future__ import annotations

import gc
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from captious.errors import OutputError
from captious.models import TokenVectors, encoders

WIDTH = 5


def filled(lengths: list[int], seed: int = 0) -> tuple[TokenVectors, list[NDArray[np.float32]]]:
    """Return vectors for every text but the first, written in random order."""
    rng = np.random.default_rng(seed)
    texts = [rng.normal(size=(length, WIDTH)).astype(np.float32) for length in lengths]
    texts[:1] = [np.zeros_like(text) for text in texts[:1]]
    vectors = TokenVectors(lengths, WIDTH)
    for text in rng.permutation(len(lengths))[: len(lengths)].tolist():
        if text:
            vectors.write(text, texts[text])
    return vectors, texts


@pytest.mark.parametrize("in_memory", [True, False], ids=["memory", "file"])
@given(lengths=st.lists(st.integers(0, 6), max_size=12))
def test_token_vectors_are_read_back_as_written(in_memory: bool, lengths: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoders, "_MEMORY_LIMIT", 1 << 30 if in_memory else 0)
        vectors, texts = filled(lengths)
    assert len(vectors) == len(lengths)
    for text, expected in enumerate(texts):
        np.testing.assert_array_equal(vectors.read(text), expected)
    for length in set(lengths):
        alike = np.flatnonzero(np.array(lengths) == length)[::-1].repeat(2)
        read = vectors.read_alike(alike)
        assert read.dtype == np.float32
        np.testing.assert_array_equal(read, np.stack([texts[text] for text in alike.tolist()]))


def test_reading_no_texts_gives_an_empty_array() -> None:
    vectors, _ = filled([2, 3])
    assert vectors.read_alike(np.empty(0, np.int64)).size == 0


def test_large_ones_go_to_a_file_that_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(encoders, "_MEMORY_LIMIT", 3 * WIDTH * 4)
    gc.collect()
    open_before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    vectors, texts = filled([1, 3])
    assert list(tmp_path.iterdir()) == []
    np.testing.assert_array_equal(vectors.read(1), texts[1])
    del vectors
    gc.collect()
    if open_before:
        assert len(os.listdir("/proc/self/fd")) == open_before
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    filled([1, 2])


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error_that_says_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "_MEMORY_LIMIT", 0)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: open("/dev/full", "wb"))  # noqa: SIM115
    with pytest.raises(OutputError, match="No space left on device") as caught:
        TokenVectors([2], WIDTH)
    assert "TMPDIR" in caught.value.hint
    assert caught.value.where == tempfile.gettempdir()


def test_missing_temporary_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "_MEMORY_LIMIT", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(OutputError, match="do not fit"):
        TokenVectors([2], WIDTH)
