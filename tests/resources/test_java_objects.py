"""Java's serialization, read: what Java wrote, what the specification shows, made-up streams, and hostile ones."""

from __future__ import annotations

import base64
import random
import struct
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from captious.resources import java_objects
from captious.resources.java_objects import JavaClass, JavaConstant, JavaObject, JavaStreamError, read_object
from tests.support.java_streams import Java, JavaArray, JavaEnum, stream, utf

HEADER = bytes.fromhex("aced0005")

#: The example of the specification, 6.4.2: two links of a list, the second written once more.
EXAMPLE = bytes.fromhex(
    "aced 0005 7372 0004 4c69 7374 69c8 8a15 4016 ae68 0200 0249 0005 7661 6c75 654c"
    "0004 6e65 7874 7400 064c 4c69 7374 3b78 7000 0000 1173 7100 7e00 0000 0000 1370 7100 7e00 03"
)


@pytest.fixture(scope="module")
def node() -> JavaObject:
    """The object of JavaObjects.java, as Java wrote it."""
    return read_object(base64.b64decode(Path(__file__).with_name("java_objects.txt").read_text()))


class TestWhatJavaWrote:
    def test_java_numbers_are_read_with_their_types(self, node: JavaObject) -> None:
        names = ("flag", "small", "letter", "wide", "narrow", "number", "big", "brief")
        narrow = float(np.float32(-0.1))
        assert [node[name] for name in names] == [True, -2, ord("é"), 0.1, narrow, 7, -(2**63), -300]
        assert node.type.name == "JavaObjects$Node"

    def test_subclass_field_hides_a_field_of_the_same_name(self, node: JavaObject) -> None:
        assert (node["number"], node["name"]) == (7, "base")
        assert node.values[:2] == [1, "base"]

    def test_java_strings_and_references_are_read(self, node: JavaObject) -> None:
        assert node["text"] == "a\0b \U0001f600 é"
        assert node["same"] is node["text"]
        assert node["self"] is node
        assert node["nothing"] is None

    def test_java_arrays_are_read(self, node: JavaObject) -> None:
        assert node["ints"].tolist() == [1, -1]
        assert node["flags"].tolist() == [True, False]
        inner, nothing = node["grid"]
        assert (inner.tolist(), nothing) == ([0.5], None)

    def test_java_classes_and_constants_are_read(self, node: JavaObject) -> None:
        text, number, blue, red, of_strings = node["mixed"]
        assert (text, number["value"], number.type.name) == ("x", 5, "java.lang.Integer")
        assert isinstance(blue, JavaConstant)
        assert isinstance(red, JavaConstant)
        assert (blue.name, red.name) == ("BLUE", "RED")
        assert blue.type is red.type
        assert isinstance(of_strings, JavaClass)
        assert of_strings.name == "java.lang.String"

    def test_custom_java_serialization_is_read(self, node: JavaObject) -> None:
        assert (node["list"]["size"], node["list"].written) == (2, [b"\0\0\0\2", "p", "q"])
        sizes, key, value = node["map"].written
        assert (sizes[4:], key, value["value"]) == (b"\0\0\0\1", "k", 1)
        assert node["map"]["accessOrder"] is False  # the class below that which writes
        assert node["outside"].written == [b"\0\0\0*", "mine"]
        assert (node["custom"]["kept"], node["custom"].written) == (3, [bytes(300), "tail"])


def test_example_of_the_java_specification_is_read() -> None:
    first = read_object(EXAMPLE)
    assert (first.type.name, first["value"], first["next"]["value"], first["next"]["next"]) == ("List", 17, 19, None)


def test_the_writer_of_these_tests_writes_what_java_writes() -> None:
    written = stream(
        Java("List", {"value": ("I", 17), "next": (second := Java("List", {"value": ("I", 19), "next": None}))}), second
    )
    parts = (b"versions", bytes.fromhex("69c88a154016ae68")), (utf("Ljava/lang/Object;"), utf("LList;"))
    for ours, theirs in parts:
        written = written.replace(ours, theirs)
    assert written == EXAMPLE


@pytest.mark.parametrize("text", ["", "plain", "é\0ß", "\U0001f600", "\ud83d", "x" * 70_000])
def test_java_strings_of_any_text_are_read(text: str) -> None:
    assert read_object(stream(text)) == text


def test_deep_java_objects_are_refused() -> None:
    def chain(depth: int) -> Java | None:
        content = None
        for _ in range(depth):
            content = Java("Link", {"next": content})
        return content

    value = read_object(stream(chain(50)))
    for _ in range(50):
        value = value["next"]
    assert value is None
    with pytest.raises(JavaStreamError, match="nested too deeply"):
        read_object(stream(chain(100)))
    deep = (
        HEADER
        + b"\x75\x72"
        + utf("[L")
        + bytes(8)
        + b"\2\0\0\x78\x70\0\0\0\1"
        + b"\x75\x71\0\x7e\0\0\0\0\0\1" * 100_000
    )
    with pytest.raises(JavaStreamError, match="nested too deeply"):
        read_object(deep)


def described(flags: int = 2, fields: bytes = b"\0\0", above: bytes = b"\x70", name: str = "C") -> bytes:
    return b"\x72" + utf(name) + bytes(8) + bytes([flags]) + fields + b"\x78" + above


def test_an_enum_needs_a_name() -> None:
    assert read_object(stream(JavaEnum("Colour", "RED"))).name == "RED"
    with pytest.raises(JavaStreamError, match="without a name"):
        read_object(HEADER + b"\x7e" + described(flags=0x12) + b"\x70")


def test_a_long_line_of_classes_takes_no_time() -> None:
    above = (b"\x71" + struct.pack(">I", 0x7E0001 + number) for number in range(1, 5_000))
    more = b"".join(described(name=f"{number}", above=of) for number, of in enumerate([b"\x70", *above]))
    content = b"\x75" + described(name="[L") + b"\0\0\x13\x88" + more
    start = time.process_time()
    with pytest.raises(JavaStreamError, match="classes"):
        read_object(HEADER + content)
    assert time.process_time() - start < 1


def test_many_classes_below_a_large_one_take_little_memory() -> None:
    fields = struct.pack(">H", 1_000) + b"".join(b"B" + utf(f"{number}") for number in range(1_000))
    below = described(above=b"\x71" + struct.pack(">I", 0x7E0002)) * 2_000
    content = HEADER + b"\x75" + described(name="[L") + struct.pack(">i", 2_001) + described(fields=fields) + below
    tracemalloc.start()
    assert len(read_object(content)) == 2_001
    assert tracemalloc.get_traced_memory()[1] < 20 * len(content)
    tracemalloc.stop()


def test_java_array_beyond_the_stream_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java_objects, "_MOST_VALUES", 1_000)
    objects = b"\x73" + described() + b"\x73\x71\0\x7e\0\2" * 600
    content = HEADER + b"\x75" + described(name="[L") + struct.pack(">i", 601) + objects
    with pytest.raises(JavaStreamError, match="more than 1,000 values"):
        read_object(content)


SMALL = stream(
    Java(
        "A",
        {"i": ("I", 1), "d": ("D", 0.5), "s": "text", "a": JavaArray("[I", [1, 2]), "e": JavaEnum("E", "X")},
        [b"block", Java("B", {"x": None}, above=Java("Top", {"z": ("Z", True)})), bytes(300)],
    )
)


def test_truncated_java_stream_is_refused() -> None:
    read_object(SMALL)
    for end in range(len(SMALL)):
        with pytest.raises(JavaStreamError):
            read_object(SMALL[:end])


def test_changed_java_stream_uses_little_memory() -> None:
    # A changed byte may mean something else; what must not be is another error, endless work or a lot of memory.
    rng = random.Random(7)
    tracemalloc.start()
    for _ in range(1_500):
        content = bytearray(SMALL)
        for _ in range(rng.randint(1, 3)):
            content[rng.randrange(4, len(content))] = rng.randrange(256)
        with suppress(JavaStreamError):
            read_object(bytes(content))
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
