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


def test_metric_uses_added_vectors(run: Run, small: str) -> None:
    scored = ["score", "improved.json", "references.json", "-m", "wmd", "--format", "csv"]
    by_file = run(*scored, "--vectors", small)
    assert by_file.code == 0
    assert "|vectors:small-" in by_file.out
    run("vectors", "add", small, "--name", "glove")
    by_name, by_default = run(*scored, "--vectors", "glove"), run(*scored)
    assert by_name.out == by_default.out == by_file.out.replace("vectors:small-", "vectors:glove-")
    parameter = run(*scored[:-4], "-m", "wmd:vectors=glove,sigma=2", "--format", "csv")
    assert "|vectors:glove-" in parameter.out


def test_unknown_names_and_folders_are_refused(run: Run, small: str) -> None:
    scored = ["score", "improved.json", "references.json", "-m", "wmd", "--vectors"]
    assert_refused(run(*scored, ""), "'' is neither the name of word vectors nor a file")
    for folder in (".", "/", ".."):
        assert_refused(run(*scored, folder), "these word vectors cannot be read: Is a directory")


def test_other_commands_take_vectors(run: Run, small: str) -> None:
    compared = run("compare", "baseline.json", "improved.json", "references.json", "-m", "mowe", "--vectors", small)
    assert (compared.code, "mowe" in compared.out) == (0, True)
    timed = run("study", "timing", "improved.json", "references.json", "-m", "wembsim", "--vectors", small)
    assert (timed.code, "wembsim" in timed.out) == (0, True)
    scored = run("score", "baseline.json", "improved.json", "references.json", "-m", "mowe", "--vectors", small)
    assert f"-m mowe --vectors {small}" in scored.err  # the next command is the same


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

    @staticmethod
    def compiled(cache: Path) -> list[str]:
        return sorted(path.name for path in (cache / "vectors" / "index").glob("*") if path.name != "lock")

    def test_removal_deletes_name_and_compiled_files(self, run: Run, small: str, cache: Path, folder: Path) -> None:
        run("vectors", "add", small, "--name", "glove")
        assert len(self.compiled(cache)) == 2
        removed = run("vectors", "remove", "glove")
        assert (removed.code, removed.out, removed.err) == (0, "", "glove: removed\n")
        assert self.compiled(cache) == []
        assert (folder / small).read_bytes() == text_of(WORDS)  # the original stays
        assert run("vectors", "list").err.startswith("there are no word vectors yet")
        scored = ("score", "improved.json", "references.json", "-m", "wmd")
        assert_refused(
            run(*scored, "--vectors", "glove"),
            "'glove' is neither the name of word vectors nor a file",
            "known names: (none)",
        )
        assert_refused(run(*scored), "no word vectors are available")

    def test_removal_of_an_unknown_name_is_an_error(self, run: Run, small: str, cache: Path) -> None:
        assert_refused(
            run("vectors", "remove", "glove"),
            "no word vectors are named 'glove'",
            "no word vectors have been added yet",
        )
        run("vectors", "add", small, "--name", "glove")
        for name in ("glov", "GLOVE", small, "../glove", ""):
            assert_refused(run("vectors", "remove", name), f"no word vectors are named {name!r}", "known names: glove")
        assert len(self.compiled(cache)) == 2

    def test_damaged_name_can_be_removed(self, run: Run, small: str, cache: Path) -> None:
        run("vectors", "add", small, "--name", "glove")
        (entry,) = (cache / "vectors").rglob("glove.json")
        entry.write_text("{")
        assert run("vectors", "remove", "glove").code == 0
        assert not entry.exists()
