"""Files of named arrays."""

from __future__ import annotations

import io
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.data.prepared import ArrayFile, write_array_file
from captious.errors import CaptionFileError, TruncatedFileError

MAGIC = b"CAPTTEST"
ARRAYS = {
    "numbers": np.arange(5, dtype=np.int32),
    "matrix": np.arange(6, dtype=np.float64).reshape(2, 3),
    "nothing": np.empty(0, np.uint8),
    "flags": np.array([True, False]),
}


def opened(path: Path, check_unless: str | None = None) -> ArrayFile:
    return ArrayFile(path, MAGIC, what="a test file", help="write it again", check_unless=check_unless)


def content(arrays: dict[str, Any] = ARRAYS) -> bytes:
    file = io.BytesIO()
    write_array_file(file, MAGIC, {"made": "here"}, arrays)
    return file.getvalue()


def forged(change: Any) -> bytes:
    """Return the file with another header and its correct checksum."""
    whole = content()
    length = struct.unpack("<8sII", whole[:16])[1]
    header = json.loads(whole[16 : 16 + length])
    change(header)
    text = json.dumps(header).encode()
    text += b" " * (-(16 + len(text)) % 64)
    return struct.pack("<8sII", MAGIC, len(text), zlib.crc32(text)) + text + whole[16 + length :]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "file.arrays"
    file.write_bytes(content())
    return file


def test_arrays_come_back(path: Path) -> None:
    file = opened(path)
    assert file.about == {"made": "here"}
    for name, array in ARRAYS.items():
        stored = file.array(name)
        assert (stored.dtype, stored.shape) == (array.dtype, array.shape)
        assert np.array_equal(stored, array)
        assert not stored.flags.writeable
        assert stored.ctypes.data % 64 == 0 or not stored.size


def test_missing_array_is_an_error(path: Path) -> None:
    with pytest.raises(CaptionFileError, match="no array other"):
        opened(path).array("other")


def test_unsupported_dtypes_are_refused(path: Path) -> None:
    with pytest.raises(TypeError, match="things"):
        content({"things": np.array([object()])})


@given(st.integers(0, len(content()) - 1), st.integers(1, 255))
def test_every_changed_byte_is_found(tmp_path_factory: pytest.TempPathFactory, at: int, by: int) -> None:
    data = bytearray(content())
    data[at] ^= by
    path = tmp_path_factory.getbasetemp() / "changed.arrays"
    path.write_bytes(data)
    for check in (lambda: opened(path).arrays(), lambda: opened(path, check_unless="")):
        with pytest.raises(CaptionFileError) as caught:
            check()
        assert str(path) in caught.value.where


@given(st.integers(0, len(content()) - 1))
def test_every_truncated_file_is_found(tmp_path_factory: pytest.TempPathFactory, size: int) -> None:
    path = tmp_path_factory.getbasetemp() / "truncated.arrays"
    path.write_bytes(content()[:size])
    with pytest.raises(TruncatedFileError, match="truncated"):
        opened(path)


def entry(name: str, *, place: int, value: object) -> Any:
    def change(header: Any) -> None:
        header["arrays"][name][place] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        entry("numbers", place=1, value=[1 << 40]),
        entry("numbers", place=1, value=[-1]),
        entry("numbers", place=1, value=[2.5]),
        entry("numbers", place=1, value=[1, 1, 1, 1]),
        entry("numbers", place=2, value=-64),
        entry("numbers", place=2, value="3"),
        entry("numbers", place=0, value="|O"),
        entry("numbers", place=0, value=["<i4"]),
        lambda header: header["arrays"].pop("flags"),
        lambda header: header.update(arrays=[1]),
        lambda header: header.update(about=[]),
        lambda header: header.pop("about"),
        lambda header: header["arrays"].update(more=["<i4"]),
    ],
)
def test_forged_headers_are_refused(path: Path, change: Any) -> None:
    path.write_bytes(forged(change))
    with pytest.raises(CaptionFileError, match=r"damaged|truncated"):
        opened(path)


def test_a_file_that_was_checked_is_not_checked_again(path: Path) -> None:
    identity = opened(path).identity
    data = bytearray(path.read_bytes())
    data[-128] ^= 1
    with open(path, "r+b") as file:  # another content, under the identity of the moment
        file.write(data)
    with pytest.raises(CaptionFileError, match="checksum"):
        opened(path, identity)
    assert opened(path, opened(path).identity).arrays()


def test_other_files_are_refused(path: Path) -> None:
    path.write_bytes(b"[" * 1000)
    with pytest.raises(CaptionFileError, match="this is not a test file"):
        opened(path)
