"""Writes streams of Java objects, as Java's ObjectOutputStream does, of what a test makes up."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: Struct codes of Java's primitive types.
CODES = {"B": "b", "C": "H", "D": "d", "F": "f", "I": "i", "J": "q", "S": "h", "Z": "?"}
FIRST_HANDLE = 0x7E0000


@dataclass(eq=False)
class Java:
    """An object.

    Args:
        type: its class.
        fields: by name; a primitive's value is a pair of its type and the number, such as ``("I", 7)``.
        written: what the class writes besides, bytes being a block; None if it writes nothing by itself.
        above: the part of the class above, an object of that class with the same identity.
        flags: of the class, where they are other than usual.
    """

    type: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    written: list[Any] | None = None
    above: Java | None = None
    flags: int | None = None


@dataclass(eq=False)
class JavaArray:
    """An array: of numbers for ``[I`` and the like, of values otherwise."""

    type: str
    values: list[Any]


@dataclass(eq=False)
class JavaEnum:
    type: str
    constant: str


def stream(*values: Any) -> bytes:
    """Return a stream of values, one after another."""
    writer = _Writer()
    for value in values:
        writer.value(value)
    return bytes(writer.out)


def utf(text: str) -> bytes:
    """Return modified UTF-8 behind its length."""
    units = struct.unpack(f"<{len(text.encode('utf-16-le', 'surrogatepass')) // 2}H", _utf16(text))
    content = b"".join(chr(unit).encode("utf-8", "surrogatepass") if unit else b"\xc0\x80" for unit in units)
    return struct.pack(">H", len(content)) + content


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


class _Writer:
    def __init__(self) -> None:
        self.out = bytearray.fromhex("aced0005")
        self._handles: dict[object, int] = {}  # of objects by identity, of classes and strings by name

    def value(self, value: Any) -> None:
        key = ("string", value) if isinstance(value, str) else id(value)
        if value is None:
            self.out += b"\x70"
        elif isinstance(value, bytes):
            self.out += bytes([0x77, len(value)]) + value if len(value) < 256 else _long_block(value)
        elif key in self._handles:
            self._reference(key)
        elif isinstance(value, str):
            self._remember(key)
            self.out += b"\x74" + utf(value) if len(value) < 10_000 else _long_string(value)
        elif isinstance(value, JavaArray):
            self.out += b"\x75"
            self._class(value.type, {}, 2, None)
            self._remember(key)
            self.out += struct.pack(">i", len(value.values))
            if value.type[1] in CODES:
                self.out += struct.pack(f">{len(value.values)}{CODES[value.type[1]]}", *value.values)
            else:
                for item in value.values:
                    self.value(item)
        elif isinstance(value, JavaEnum):
            self.out += b"\x7e"
            self._class(value.type, {}, 0x12, None)
            self._remember(key)
            self.value(value.constant)
        else:
            self.out += b"\x73"
            self._class_of(value)
            self._remember(key)
            self._parts(value)

    def _parts(self, made: Java) -> None:
        if made.above is not None:
            self._parts(made.above)
        for value in made.fields.values():
            if isinstance(value, tuple):
                self.out += struct.pack(f">{CODES[value[0]]}", value[1])
        for value in made.fields.values():
            if not isinstance(value, tuple):
                self.value(value)
        if made.written is not None:
            for value in made.written:
                self.value(value)
            self.out += b"\x78"

    def _class_of(self, made: Java) -> None:
        flags = made.flags if made.flags is not None else 2 if made.written is None else 3
        self._class(made.type, made.fields, flags, made.above)

    def _class(self, name: str, fields: Mapping[str, Any], flags: int, above: Java | None) -> None:
        if ("class", name) in self._handles:
            self._reference(("class", name))
            return
        self.out += b"\x72" + utf(name) + b"versions" + bytes([flags])
        self._remember(("class", name))
        primitives = {name: value[0] for name, value in fields.items() if isinstance(value, tuple)}
        self.out += struct.pack(">H", len(fields))
        for name, code in primitives.items():
            self.out += code.encode() + utf(name)
        for name in (name for name in fields if name not in primitives):
            self.out += b"L" + utf(name)
            self.value("Ljava/lang/Object;")
        self.out += b"\x78"
        if above is None:
            self.out += b"\x70"
        else:
            self._class_of(above)

    def _remember(self, key: object) -> None:
        self._handles[key] = len(self._handles)

    def _reference(self, key: object) -> None:
        self.out += b"\x71" + struct.pack(">I", FIRST_HANDLE + self._handles[key])


def _long_block(content: bytes) -> bytes:
    return b"\x7a" + struct.pack(">I", len(content)) + content


def _long_string(text: str) -> bytes:
    return b"\x7c" + struct.pack(">q", len(text.encode())) + text.encode()
