"""Pickles read as data: those of gensim, and malicious ones."""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.errors import ResourceError
from captious.resources.pickles import PickledObject, PickleError, read_pickle
from captious.resources.vectors import VectorFile

NUMBERS = np.arange(6, dtype=np.float32).reshape(2, 3)


def text(value: str) -> bytes:
    return b"\x8c" + bytes([len(value)]) + value.encode()


def name(module: str, of: str) -> bytes:
    return text(module) + text(of) + b"\x93"


def dtype(code: str) -> bytes:
    return name("numpy", "dtype") + text(code) + b"\x85R"


#: numpy.ndarray((4,), dtype("O"), b"AAA..."), whose items are pointers that the file makes up.
OBJECTS = name("numpy", "ndarray") + b"(K\x04\x85" + dtype("O") + b"C\x20" + b"A" * 32 + b"tR"


def refused(content: bytes, reason: str = "") -> None:
    with pytest.raises(PickleError, match=reason or None):
        read_pickle(content)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, 255, 256, 65_536, -1, 2**40, -(2**80), 1.5, "", "é犬", "x" * 70_000, [], [1, [2, []]], (), (1,),
        (1, 2, 3, 4),
        {}, {"a": 1, 2: "b"}, ["same", "same"],
    ],
    ids=lambda value: f"{value!r:.20}",
)  # fmt: skip
def test_plain_values_are_unpickled(value: Any, protocol: int) -> None:
    assert read_pickle(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "value",
    [
        NUMBERS, np.asfortranarray(NUMBERS), NUMBERS.astype(">f8"), NUMBERS[:0].ravel(), np.arange(5_000),
        np.array([True]),
        np.ones((2, 2), np.int8),
    ],
)  # fmt: skip
def test_numpy_arrays_are_unpickled(value: np.ndarray, protocol: int) -> None:
    if protocol == 2 and not value.size:
        pytest.skip("not here: no bytes at all are written as a call of bytes")
    value_read = read_pickle(pickle.dumps(value, protocol))
    np.testing.assert_array_equal(value_read, value)
    assert value_read.dtype == value.dtype


def test_scalars_and_bytes_are_unpickled() -> None:
    for number in (np.float32(1.5), np.int64(-7), np.bool_(True)):
        assert read_pickle(pickle.dumps(number, 4)) == number
    assert read_pickle(pickle.dumps(b"abc", 4)) == b"abc"
    assert read_pickle(pickle.dumps(b"\xe9abc", 2)) == b"\xe9abc"
    assert read_pickle(pickle.dumps(b"x" * 10_000, 4)) == b"x" * 10_000


@pytest.mark.parametrize("how", [b")\x81", b")}\x92"], ids=["new", "new with names"])
def test_objects_are_bags_of_attributes(how: bytes) -> None:
    instance = name("gensim.models", "Any") + how + b"}" + text("a") + b"K\x07sb"
    value_read = read_pickle(b"\x80\x04" + instance + b".")
    assert isinstance(value_read, PickledObject)
    assert (value_read.type, value_read.attributes) == ("gensim.models.Any", {"a": 7})


def test_a_hash_by_recursion_without_end_is_refused() -> None:
    refused(b"}" + b")" + b"\x85" * 1_000_000 + b"Ns.", "keys are not strings")


def test_truncated_pickle_is_refused() -> None:
    whole = pickle.dumps({"words": ["a", "b"], "vectors": NUMBERS}, 4)
    for end in range(len(whole)):
        refused(whole[:end])


def test_bytes_are_not_made_again_and_again() -> None:
    text_of_a_megabyte = b"X" + struct.pack("<I", 1 << 20) + b"a" * (1 << 20) + b"\x940"
    encode = name("_codecs", "encode") + b"\x940" + text("latin1") + b"\x940"
    calls = b"](" + b"h\x01h\x00h\x02\x86R" * 1_000 + b"e."
    content = text_of_a_megabyte.replace(b"\x940", b"\x94") + encode.replace(b"\x940", b"\x94") + calls
    tracemalloc.start()
    refused(content, "more bytes than the pickle contains")
    assert tracemalloc.get_traced_memory()[1] < 10 << 20
    tracemalloc.stop()


def test_repeated_word_is_refused(tmp_path: Path) -> None:
    word = b"X" + struct.pack("<I", 1 << 16) + b"a" * (1 << 16) + b"\x94"
    words = b"](" + word + b"h\0" * 100_000 + b"e"
    state = b"}(" + text("index_to_key") + words + b"u"
    path = tmp_path / "x.kv"
    path.write_bytes(b"\x80\x04" + name("gensim", "KeyedVectors") + b")\x81" + state + b"b.")
    with pytest.raises(ResourceError, match="duplicate words"):
        VectorFile(path).compiled("0" * 16)


def test_forged_array_touches_no_foreign_memory(tmp_path: Path) -> None:
    # In its own process, which an error here would end.
    path = tmp_path / "x.kv"
    path.write_bytes(b"\x80\x04" + name("numpy", "ndarray") + OBJECTS + b"\x85R.")
    program = f"""
from pathlib import Path
from captious.errors import ResourceError
from captious.resources.vectors import VectorFile
try:
    VectorFile(Path({str(path)!r})).compiled("0" * 16)
except ResourceError as error:
    print(error.message)
"""
    environment = {"CAPTIOUS_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "an array of 'O', not of numbers" in done.stdout
