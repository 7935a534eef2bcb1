"""captious vectors, --vectors, and captious explain wmd"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Run, assert_refused
from tests.support.vector_files import fasttext_of, text_of

WORDS = {"dog": np.zeros(2), "puppy": np.array([3.0, 4.0]), "park": np.array([0.0, 1.0]), "runs": np.array([5.0, 5.0])}


@pytest.fixture
def small(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of vectors in the folder of examples; no vectors are known yet."""
    monkeypatch.delenv("CAPTIOUS_VECTORS")
    (folder / "small.txt").write_bytes(text_of(WORDS))
    return "small.txt"


def test_unknown_names_and_folders_are_refused(run: Run, small: str) -> None:
    scored = ["score", "improved.json", "references.json", "-m", "wmd", "--vectors"]
    assert_refused(run(*scored, ""), "'' is neither the name of word vectors nor a file")
    for folder in (".", "/", ".."):
        assert_refused(run(*scored, folder), "these word vectors cannot be read: Is a directory")


def test_subwords_and_first_duplicates_are_options(run: Run, small: str, folder: Path) -> None:
    (folder / "model.bin").write_bytes(fasttext_of(WORDS, np.ones((4, 2))))
    assert run("vectors", "add", "model.bin", "--name", "ft", "--subwords").code == 0
    assert "subwords" in run("vectors", "list").out
    (folder / "twice.txt").write_bytes(text_of(WORDS) + b"dog 1 2\n")
    refused = run("vectors", "add", "twice.txt", "--name", "twice")
    assert_refused(refused, "'dog' is a duplicate of the word at line 1", "twice.txt, line 5", "--keep-first")
    assert run("vectors", "add", "twice.txt", "--name", "twice", "--keep-first").err.startswith("twice: 4 words")


class TestRemove:
    """The compiled file is removed with its name."""

    def test_damaged_name_can_be_removed(self, run: Run, small: str, cache: Path) -> None:
        run("vectors", "add", small, "--name", "glove")
        (entry,) = (cache / "vectors").rglob("glove.json")
        entry.write_text("{")
        assert run("vectors", "remove", "glove").code == 0
        assert not entry.exists()
