"""Word vectors in the cache: compiled once, by whichever process and however a build ends; names; damaged files."""

from __future__ import annotations

import gzip
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from captious.errors import MissingExtraError, ParameterError, ResourceError, UnknownNameError
from captious.resources import vectors
from captious.resources.vectors import VectorFile, add, default, describe, find, names, remove
from tests.resources.programs import output, start, wait_until
from tests.support.vector_files import npz_of, text_of

WORDS = [f"word{i}" for i in range(200)]
VECTORS = {word: np.full(3, row, np.float32) for row, word in enumerate(WORDS)}


@pytest.fixture
def cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no environment variable that names vectors."""
    monkeypatch.delenv("CAPTIOUS_VECTORS", raising=False)
    return cache


@pytest.fixture
def file(tmp_path: Path, cache: Path) -> Path:
    path = tmp_path / "small.txt"
    path.write_bytes(text_of(VECTORS))
    return path


def in_cache(cache: Path, ending: str = "") -> list[str]:
    """Return names of the files of the compiled vectors, besides the lock."""
    return sorted(p.name for p in (cache / "vectors" / "index").glob(f"*{ending}") if p.name != "lock")


def row(what: str | Path | None, word: str = "word7") -> float:
    has_vector, rows = find(what).index.look_up([word])
    return float(rows[0, 0]) if has_vector[0] else float("nan")


def test_compiled_once_whatever_the_file_is_called(file: Path, cache: Path, tmp_path: Path) -> None:
    assert row(file) == 7
    (index, rows) = in_cache(cache)
    before = [(cache / "vectors" / "index" / name).stat().st_mtime_ns for name in (index, rows)]
    packed = tmp_path / "other.txt.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert row(packed) == 7
    assert find(packed).checksum == find(file).checksum
    assert [find(path).name for path in (file, packed)] == ["small", "other"]
    assert in_cache(cache) == [index, rows]
    assert [(cache / "vectors" / "index" / name).stat().st_mtime_ns for name in (index, rows)] == before


def test_changed_file_gets_another_checksum(file: Path, cache: Path) -> None:
    first = find(file)
    file.write_bytes(text_of({**VECTORS, "word7": np.zeros(3)}))
    assert row(file) == 0
    assert find(file).checksum != first.checksum
    assert first.index.look_up(["word7"])[1][0, 0] == 7


def test_large_files_are_read_once_for_their_checksum(file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_SMALL", 0)
    checksum = VectorFile(file).checksum()
    monkeypatch.setattr(VectorFile, "_summed", None)
    assert VectorFile(file).checksum() == checksum
    os.utime(file, ns=(1, 1))
    with pytest.raises(TypeError):  # it would be read
        VectorFile(file).checksum()


# ---- names


def test_named_vectors_are_added_and_found(file: Path, cache: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingExtraError, match="no word vectors are available") as caught:
        find()
    assert "captious vectors add FILE --name NAME" in caught.value.hint
    added = add(VectorFile(file), "glove")
    assert (names(), default(), added.name) == (["glove"], "glove", "glove")
    assert row(None) == row("glove") == 7
    assert find("glove").checksum == find(file).checksum
    other = tmp_path / "b.npz"
    other.write_bytes(npz_of({"word7": np.ones(2)}))
    add(VectorFile(other), "b.2-x")
    assert names() == ["b.2-x", "glove"]
    assert row("b.2-x") == 1
    with pytest.raises(ParameterError, match="several word vectors are available") as several:
        find()
    assert several.value.where == "available: b.2-x, glove"


def test_environment_variable_names_the_vectors(file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for chosen in (str(file), "glove"):
        add(VectorFile(file), "glove")
        monkeypatch.setenv("CAPTIOUS_VECTORS", chosen)
        assert row(None) == 7
    monkeypatch.setenv("CAPTIOUS_VECTORS", "nope")
    with pytest.raises(UnknownNameError, match="'nope' is neither the name of word vectors nor a file"):
        find()


@pytest.mark.parametrize(
    "content",
    [
        '{"checksum": 1}',
        "{}",
        "",
        "[1]",
        "[" * 100_000,
        '{"checksum": "../x", "words": 1, "width": 2, "path": "", "vocabulary": null, "keep_first": 1}',
    ],
    ids=lambda content: content[:20],
)
def test_damaged_record_of_a_name_is_reported(content: str, file: Path, cache: Path) -> None:
    add(VectorFile(file), "glove")
    path = cache / "vectors" / "names" / "glove.json"
    path.write_text(content)
    assert names() == ["glove"]
    assert describe("glove") == ("damaged", str(path))
    for ask in (lambda: find("glove"), lambda: add(VectorFile(file), "glove")):
        with pytest.raises(ResourceError, match="the entry of the word vectors glove is damaged") as caught:
            ask()
        assert "--replace" in caught.value.hint
    add(VectorFile(file), "glove", replace=True)
    assert row("glove") == 7


def test_names_of_files_that_no_file_has(file: Path, cache: Path) -> None:
    for name in ("x" * 5_000, "a\0b"):
        with pytest.raises(UnknownNameError, match="nor a file"):
            find(name)


@pytest.mark.parametrize("name", ["", "a b", "a/b", "-x", "é", "..", ".x"])
def test_invalid_vector_names_are_refused(name: str, file: Path) -> None:
    with pytest.raises(ParameterError, match="cannot name word vectors"):
        add(VectorFile(file), name)


def test_name_in_use_is_refused(file: Path, cache: Path, tmp_path: Path) -> None:
    add(VectorFile(file), "glove")
    add(VectorFile(file), "glove")  # adding the same again changes nothing
    other = tmp_path / "other.txt"
    other.write_bytes(text_of({"word7": np.zeros(3)}))
    with pytest.raises(ParameterError, match="the name glove is taken") as caught:
        add(VectorFile(other), "glove")
    assert str(file) in caught.value.where
    assert row("glove") == 7
    add(VectorFile(other), "glove", replace=True)
    assert row("glove") == 0


def test_a_name_outlives_its_file_but_not_the_cache(file: Path, cache: Path) -> None:
    add(VectorFile(file), "glove")
    assert describe("glove")[0] == "compiled"
    content = file.read_bytes()
    file.unlink()
    assert row("glove") == 7
    for path in (cache / "vectors" / "index").iterdir():
        path.unlink()
    vectors._opened.cache_clear()
    assert describe("glove")[0] == "missing"
    with pytest.raises(ResourceError, match="no longer in the cache") as caught:
        find("glove")
    assert "--replace" in caught.value.hint
    file.write_bytes(content)
    assert describe("glove")[0] == "found"
    assert row("glove") == 7
    assert describe("glove")[0] == "compiled"


# ---- damage


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_rows_that_are_gone_are_made_again(file: Path, cache: Path, damage: str) -> None:
    find(file)
    vectors._opened.cache_clear()
    (rows,) = (cache / "vectors" / "index").glob("*.rows")
    whole = rows.read_bytes()
    rows.unlink()
    if damage == "cut":
        rows.write_bytes(whole[:-4])
    assert row(file) == 7
    assert rows.read_bytes() == whole


def test_changed_row_is_detected_on_use(file: Path, cache: Path) -> None:
    find(file)
    vectors._opened.cache_clear()
    (rows,) = (cache / "vectors" / "index").glob("*.rows")
    content = bytearray(rows.read_bytes())
    content[7 * 12] ^= 1
    rows.write_bytes(content)
    assert row(file, "word6") == 6
    with pytest.raises(ValueError, match="vector 8 differs from what was written"):
        row(file, "word7")


def test_a_changed_index_is_made_again(file: Path, cache: Path) -> None:
    find(file)
    vectors._opened.cache_clear()
    (index,) = (cache / "vectors" / "index").glob("*.index")
    whole = index.read_bytes()
    index.write_bytes(whole[:-100] + bytes(100))
    assert row(file) == 7
    assert index.read_bytes() == whole


def test_file_that_changes_during_reading_is_refused(file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checksum = VectorFile(file).checksum()
    index_of = vectors.index_of

    def touched(*arguments: object, **options: object) -> object:
        rows = index_of(*arguments, **options)  # type: ignore[arg-type]
        os.utime(file, ns=(1, 1))
        return rows

    monkeypatch.setattr(vectors, "index_of", touched)
    with pytest.raises(ResourceError, match="the file changed while it was read"):
        VectorFile(file).compiled(checksum)
    assert in_cache(cache, ".index") == []


# ---- several processes, kills, full disks

FIND = """
import sys, time
from captious.resources import vectors

{beforehand}
print(vectors.find(sys.argv[1]).index.look_up(["word7"])[1][0, 0])
"""
#: The first row is written, and then nothing goes on.
STUCK = """
def stuck(blocks, *, out, **options):
    out.write(next(blocks).vectors[:1].data)
    out.flush()
    open(sys.argv[1] + " writing", "w").close()
    time.sleep(600)

vectors.index_of = stuck
"""


def test_concurrent_processes_compile_vectors_once(file: Path, cache: Path) -> None:
    programs = [start(FIND.replace("{beforehand}", ""), file) for _ in range(3)]
    assert [output(program) for program in programs] == ["7.0\n"] * 3
    assert len(in_cache(cache)) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="not here: no SIGKILL")
def test_a_build_that_is_killed_leaves_nothing_that_is_taken_for_whole(file: Path, cache: Path) -> None:
    victim = start(FIND.replace("{beforehand}", STUCK), file)
    wait_until(Path(f"{file} writing").exists)
    waiting = start(FIND.replace("{beforehand}", ""), file)
    os.kill(victim.pid, signal.SIGKILL)
    victim.communicate()
    assert output(waiting) == "7.0\n"
    assert len(in_cache(cache)) == 2  # leftovers are removed


LIMITED = """
import resource, sys
from captious.errors import ResourceError
from captious.resources import vectors

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    vectors.find(sys.argv[1])
except ResourceError as error:
    print(error.message)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="not here: the system has no limits as those of Linux")
@pytest.mark.parametrize("size", [1_000, 3_000], ids=["for the rows", "for the words"])
def test_full_disk_leaves_no_vectors(size: int, file: Path, cache: Path) -> None:
    # 200 rows are 2,400 bytes, the file of words is larger.
    assert output(start(LIMITED, file, str(size))) == "the cache cannot be written to: File too large\n"
    assert in_cache(cache, ".index") == []
    assert in_cache(cache, ".captious-*") == []
    assert row(file) == 7


def test_replacing_mends_what_is_damaged(file: Path, cache: Path) -> None:
    add(VectorFile(file), "mine")
    (rows,) = cache.rglob("*.rows")
    before = rows.read_bytes()
    rows.write_bytes(bytes([before[0] ^ 255]) + before[1:])
    add(VectorFile(file), "mine", replace=True)
    assert rows.read_bytes() == before


def test_removed_name_is_unknown(file: Path, cache: Path) -> None:
    """The compiled files go with the last name that stands for them."""
    add(VectorFile(file), "one")
    add(VectorFile(file), "two")
    assert len(in_cache(cache)) == 2
    remove("one")
    assert names() == ["two"]
    assert row("two") == 7
    remove("two")
    assert (names(), in_cache(cache)) == ([], [])
    with pytest.raises(UnknownNameError, match="no word vectors are named 'two'"):
        remove("two")
    assert row(file) == 7  # the file itself can still be used
