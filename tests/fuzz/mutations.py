"""Changes to the content of files: bits, bytes, sizes, numbers in digits, pieces moved, cut and doubled."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Sequence

__all__ = ["mutated"]

#: Numbers that programs forget.
SIZES = (0, 1, 2, 3, 127, 128, 255, 256, 1_000, 65_535, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40,
         (1 << 63) - 1, -1, -2, -128, -(1 << 31), -(1 << 63))  # fmt: skip
WRITTEN = (
    b"0",
    b"-1",
    b"1e400",
    b"-1e-400",
    b"nan",
    b"inf",
    b"99999999999",
    b"9" * 400,
    b"9" * 5_000,
    b"0x10",
    b"1.5",
    b"",
)
TOKENS = (b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\t", b'"', b"'", b"\\", b"\\ud800", b"\xed\xa0\x80",
          b"{", b"}", b"[", b"]", b"[" * 2_000, b"null", b"true", b"NaN", b",", b":", b"\x1f\x8b", b"PK\x03\x04",
         b" " * 70_000,
          "é".encode(), "\u2028".encode(), b"\xf0\x9f\x98\x80")  # fmt: skip


def mutated(rng: random.Random, content: bytes, others: Sequence[bytes] = (), tokens: Sequence[bytes] = ()) -> bytes:
    """Return the content with one to eight changes; ``others`` are spliced in, ``tokens`` are words of its format."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        _change(rng, data, others, tokens)
    return bytes(data)


def _change(rng: random.Random, data: bytearray, others: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.choice((1, 1, 2, 4, 8, 20, 100)))
    match rng.randrange(12):
        case 0 if at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        case 1 if at < len(data):
            data[at] = rng.randrange(256)
        case 2:
            del data[at:end]
        case 3:
            data[at:at] = data[at:end] * rng.choice((1, 2, 50))
        case 4:
            del data[at:]
        case 5:
            form = rng.choice(["<b", "<h", "<i", "<q", ">b", ">h", ">i", ">q"])
            packed = struct.pack(form.replace("b", "B").upper(), rng.choice(SIZES) % (1 << 8 * struct.calcsize(form)))
            data[at : at + rng.choice((0, len(packed)))] = packed
        case 6 if numbers := [*re.finditer(rb"-?[0-9][0-9.]*", bytes(data[:5_000]))]:
            number = rng.choice(numbers)
            data[number.start() : number.end()] = rng.choice(WRITTEN)
        case 7:
            data[at : rng.choice((at, end))] = rng.choice(TOKENS)
        case 8 if others:
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            data[at : rng.choice((at, end, len(data)))] = other[start : start + rng.choice((4, 40, 4_000))]
        case 9 if tokens:
            data[at : rng.choice((at, end))] = rng.choice(tokens)
        case 10 if tokens:
            token = rng.choice(tokens)
            if (place := data.find(token)) >= 0:
                data[place : place + len(token)] = rng.choice((rng.choice(tokens), b"", token * 2))
        case _:
            data[at:end] = rng.randbytes(end - at)
