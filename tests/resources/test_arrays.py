"""Files of arrays: written and read back; truncated and changed files are noticed."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.data import prepared
from captious.resources import cache
from captious.resources.cache import Arrays, open_arrays, write_arrays

LABEL = "tables 7"
ARRAYS: Arrays = {
    "text": np.frombuffer(b"the quick brown fox", np.uint8),
    "ends": np.array([3, 9, 15, 19], np.uint32),
    "nothing": np.zeros(0, np.int32),
    "aligned": np.arange(16, dtype=np.float64),
    "long": np.arange(100, dtype=np.uint32),
}


def written(content: Arrays) -> bytes:
    file = io.BytesIO()
    write_arrays(file, content, LABEL)
    return file.getvalue()


def same(actual: Arrays | None, expected: Arrays) -> bool:
    return actual is not None and {n: (a.dtype, a.tolist()) for n, a in actual.items()} == {
        n: (a.dtype, a.tolist()) for n, a in expected.items()
    }


@pytest.mark.parametrize("content", [ARRAYS, {}, {"one": np.array([7], np.int64)}, {"none": np.zeros(0, np.uint8)}])
def test_arrays_are_read_back_as_written(tmp_path: Path, content: Arrays) -> None:
    path = tmp_path / "arrays"
    path.write_bytes(written(content))
    assert same(open_arrays(path, LABEL), content)
    assert same(open_arrays(str(path), LABEL), content)


@given(
    lists=st.lists(st.lists(st.integers(0, 255), max_size=200), max_size=5),
    dtype=st.sampled_from(["u1", "<u2", "<u4", "<i4", "<i8", "<f8"]),
)
def test_arbitrary_arrays_are_read_back(
    lists: list[list[int]], dtype: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any-arrays"
    content = {f"array {i}": np.array(values, dtype) for i, values in enumerate(lists)}
    path.write_bytes(written(content))
    assert same(open_arrays(path, LABEL), content)


def test_arrays_are_mapped_aligned_and_read_only(tmp_path: Path) -> None:
    path = tmp_path / "arrays"
    path.write_bytes(written(ARRAYS))
    actual = open_arrays(path, LABEL)
    for array in actual.values():
        assert not array.flags.writeable
        assert not array.flags.owndata
        assert array.ctypes.data % 64 == 0
    with pytest.raises(ValueError, match="read-only"):
        actual["ends"][0] = 1


def test_every_other_item_of_an_array_is_an_array_too() -> None:
    assert written({"a": np.arange(10)[::2]}) == written({"a": np.arange(0, 10, 2)})


def test_other_files_are_not_read_as_arrays(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing", tmp_path / "missing" / "missing"):
        assert open_arrays(path, LABEL) is None
    for number, content in enumerate([b"", b"\0" * 4096, b"CAPTARR3", b'{"size": 0, "arrays": []}' * 40]):
        path = tmp_path / str(number)
        path.write_bytes(content)
        assert open_arrays(path, LABEL) is None


def test_truncated_or_extended_file_is_not_read(tmp_path: Path) -> None:
    whole = written(ARRAYS)
    for content in (*(whole[:end] for end in range(len(whole))), whole + b"\0", whole + whole):
        path = tmp_path / str(len(content))  # to write over a file takes longer
        path.write_bytes(content)
        assert open_arrays(path, LABEL) is None, len(content)


def test_file_of_another_version_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "arrays"
    path.write_bytes(written(ARRAYS).replace(b"CAPTARR3", b"CAPTARR2", 1))
    assert open_arrays(path, LABEL) is None


def test_file_of_another_label_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "arrays"
    path.write_bytes(written(ARRAYS))
    assert open_arrays(path, "tables 8") is None


def test_a_bit_that_changes_anywhere_is_found(tmp_path: Path) -> None:
    whole = written(ARRAYS)
    for at in range(len(whole)):
        path = tmp_path / str(at)
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        path.write_bytes(changed)
        assert open_arrays(path, LABEL) is None, at


class TestNotes:
    """A file that was checked is not read again until it changes."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "x.index"
        with open(path, "wb") as file:
            write_arrays(file, {"numbers": np.arange(100_000)}, "made here")
        return path

    @pytest.fixture
    def later(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = cache.time.time
        monkeypatch.setattr(cache.time, "time", lambda: now() + 10)

    @pytest.fixture
    def sums(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """The sizes of the buffers that checksums are computed from."""
        sizes: list[int] = []
        crc32 = prepared.zlib.crc32
        monkeypatch.setattr(prepared.zlib, "crc32", lambda data, crc=0: sizes.append(len(data)) or crc32(data, crc))
        return sizes

    def test_noted_file_is_checked_once(self, path: Path, later: None, sums: list[int]) -> None:
        for _ in range(2):
            assert open_arrays(path, "made here", note=True) is not None
        assert sum(sums) < 900_000
        assert open_arrays(path, "made here") is not None
        assert sum(sums) > 1_500_000

    def test_changed_array_file_is_detected(self, path: Path, later: None) -> None:
        assert open_arrays(path, "made here", note=True) is not None
        before = path.stat()
        data = bytearray(path.read_bytes())
        data[-100] ^= 1
        time.sleep(0.02)
        path.write_bytes(data)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert path.stat().st_mtime_ns == before.st_mtime_ns
        assert open_arrays(path, "made here", note=True) is None

    def test_file_being_written_gets_no_note(self, path: Path) -> None:
        assert open_arrays(path, "made here", note=True) is not None
        assert not path.with_name("x.index.checked").exists()

    def test_file_without_a_valid_note_is_checked_again(self, path: Path, later: None, sums: list[int]) -> None:
        note = path.with_name("x.index.checked")
        note.mkdir()
        assert open_arrays(path, "made here", note=True) is not None
        note.rmdir()
        note.write_bytes(b"\xff" * 500)
        assert open_arrays(path, "made here", note=True) is not None
        assert sum(sums) > 1_500_000
