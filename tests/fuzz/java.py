"""Hostile streams of Java objects, made of all type codes, with references and sizes that are not there."""

from __future__ import annotations

import random
import struct

from tests.support.java_streams import FIRST_HANDLE, utf

__all__ = ["program"]

_SIZES = (0, 1, 2, 3, 100, 1_000, 65_535, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)


def program(rng: random.Random) -> bytes:
    """Return a stream."""
    return bytes.fromhex("aced0005") + b"".join(_value(rng, 0) for _ in range(rng.choice((1, 1, 2, 20))))


def _value(rng: random.Random, depth: int) -> bytes:
    if depth > 8:
        return b"\x70"
    below = depth + 1
    match rng.randrange(10):
        case 0:
            return b"\x70"
        case 1 | 2:
            return b"\x71" + struct.pack(">I", FIRST_HANDLE + rng.randrange(8))
        case 3:
            return _class(rng, below)
        case 4 | 5:
            return (
                b"\x73" + _class(rng, below) + b"".join(_value(rng, below) for _ in range(rng.randrange(4))) + b"\x78"
            )
        case 6:
            return b"\x74" + utf(rng.choice(("", "a", "é\0", "\U0001f600")))
        case 7:
            name = rng.choice(("[I", "[B", "[D", "[Ljava.lang.Object;", "[[I", "C"))
            size = rng.choice(_SIZES) if rng.random() < 0.3 else 2
            items = b"".join(_value(rng, below) for _ in range(2)) if "L" in name else rng.randbytes(16)
            return b"\x75" + _class(rng, below, name) + struct.pack(">I", size) + items
        case 8:
            return b"\x7e" + _class(rng, below) + _value(rng, below)
        case _:
            size = rng.choice(_SIZES)
            return rng.choice((
                b"\x76" + _class(rng, below), b"\x77\2ab", b"\x7a" + struct.pack(">I", size) + b"ab", b"\x78",
                b"\x79", b"\x7b",
                b"\x7c" + struct.pack(">Q", size) + b"ab", b"\x7d", rng.randbytes(4), b"\x73" * rng.choice((3, 10_000)),
            ))  # fmt: skip


def _class(rng: random.Random, depth: int, name: str = "C") -> bytes:
    if rng.random() < 0.3 or depth > 8:
        return b"\x71" + struct.pack(">I", FIRST_HANDLE + rng.randrange(8))
    fields = []
    for number in range(rng.choice((0, 1, 2, 3, 300))):
        kind = rng.choice("BCDFIJSZL[Q")
        fields.append(kind.encode() + utf(f"f{number}") + (b"\x74" + utf("LObject;") if kind in "L[" else b""))
    count = len(fields) if rng.random() < 0.9 else rng.choice(_SIZES) & 0xFFFF
    flags = rng.choice((2, 2, 3, 12, 4, 0x12, 0, 255))
    above = rng.choice((b"\x70", b"\x70", b"\x71" + struct.pack(">I", FIRST_HANDLE + rng.randrange(4))))
    if rng.random() < 0.2:
        above = _class(rng, depth + 1)
    more = b"" if rng.random() < 0.9 else _value(rng, depth)
    return (
        b"\x72"
        + utf(name)
        + bytes(8)
        + bytes([flags])
        + struct.pack(">H", count)
        + b"".join(fields)
        + more
        + b"\x78"
        + above
    )
