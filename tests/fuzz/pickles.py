"""Hostile pickles, made of all opcodes: what is allowed, what is not, and sizes that are not there."""

from __future__ import annotations

import pickle
import random
import struct
from collections.abc import Callable

__all__ = ["program"]

ALLOWED = (
    ("numpy", "ndarray"), ("numpy", "dtype"), ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"), ("numpy._core.numeric", "_frombuffer"), ("_codecs", "encode"),
    ("gensim.models.keyedvectors", "KeyedVectors"), ("gensim.models.keyedvectors", "Vocab"),
)  # fmt: skip
FORBIDDEN = (
    ("os", "system"), ("builtins", "eval"), ("builtins", "getattr"), ("numpy", "load"),
    ("numpy.core.multiarray", "ndarray"),
    ("numpy.lib.npyio", "loadtxt"), ("numpy", "memmap"), ("gensimx", "y"), ("copyreg", "_reconstructor"), ("a\nb", "c"),
)  # fmt: skip
TEXTS = (b"", b"a", b"dog", b"index_to_key", b"index2word", b"vectors", b"syn0", b"bucket", b"latin1", b"__setstate__",
         b"__class__", b"__dict__", b"f4", b"<f8", b"i8", b"O", b"V8", b"O8", b"f4,O", b"c16", b"M8", b"U4", b"b1",
         b"u0", b"f16",
         b"<", b">", b"|", b"F", b"C", b"\xff", b"\xed\xa0\x80", "é".encode())  # fmt: skip
SIZES = (0, 1, 2, 3, 4, 8, 255, 256, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 62, (1 << 64) - 1)
ALL = tuple(
    getattr(pickle, name)[0] for name in pickle.__all__ if name.isupper() and isinstance(getattr(pickle, name), bytes)
)


def program(rng: random.Random) -> bytes:
    """Return a pickle, occasionally a harmless one."""
    if rng.random() < 0.1:
        return b"\x80\4" + _keyed_vectors(rng) + b"."
    out = bytearray(b"\x80" + bytes([rng.choice((2, 3, 4, 4, 5, 5, 255))]))
    if rng.random() < 0.3:
        out += _keyed_vectors(rng)
    for _ in range(rng.choice((1, 3, 10, 30, 100))):
        out += rng.choice(_PIECES)(rng)
    if rng.random() < 0.3:
        out += _keyed_vectors(rng)
    if rng.random() < 0.2:
        out += rng.choice((b"\x85", b"]\x94", b"(", b"2", b")\x85", b"}\x94s")) * rng.choice((10, 3_000, 200_000))
    out += b"." if rng.random() < 0.9 else b""
    if rng.random() < 0.2:
        out[rng.randrange(2, len(out))] = rng.choice(ALL)
    return bytes(out)


def _text(rng: random.Random, text: bytes | None = None) -> bytes:
    text = rng.choice(TEXTS) if text is None else text
    size = len(text) if rng.random() < 0.97 else rng.choice(SIZES)
    match rng.randrange(5):
        case 0:
            return b"X" + struct.pack("<I", size & 0xFFFFFFFF) + text
        case 1:
            return b"\x8d" + struct.pack("<Q", size) + text
        case 2:
            return b"U" + bytes([size & 0xFF]) + text
        case _:
            return b"\x8c" + bytes([size & 0xFF]) + text


def _bytes(rng: random.Random, content: bytes | None = None) -> bytes:
    content = rng.randbytes(rng.choice((0, 1, 4, 8, 16, 64))) if content is None else content
    size = len(content) if rng.random() < 0.95 else rng.choice(SIZES)
    match rng.randrange(4):
        case 0:
            return b"B" + struct.pack("<I", size & 0xFFFFFFFF) + content
        case 1:
            return b"\x8e" + struct.pack("<Q", size) + content
        case 2:
            return b"\x96" + struct.pack("<Q", size) + content
        case _:
            return b"C" + bytes([size & 0xFF]) + content


def _integer(rng: random.Random, number: int | None = None) -> bytes:
    number = rng.choice(SIZES) if number is None else number
    match rng.randrange(3):
        case 0 if number < 256:
            return b"K" + bytes([number])
        case 1:
            return b"J" + struct.pack("<I", number & 0xFFFFFFFF)
        case _:
            return b"\x8a\x09" + number.to_bytes(9, "little")


def _name(rng: random.Random, names: tuple[tuple[str, str], ...] | None = None) -> bytes:
    module, name = rng.choice(names or (*ALLOWED, *ALLOWED, *FORBIDDEN))
    if rng.random() < 0.5:
        return f"c{module}\n{name}\n".encode()
    return _text(rng, module.encode()) + _text(rng, name.encode()) + b"\x93"


def _dtype(rng: random.Random) -> bytes:
    content = _name(rng, ALLOWED[1:2]) + _text(rng) + rng.choice((b"\x85", b"\x89\x88\x87")) + b"R"
    if rng.random() < 0.5:
        parts = b"NNN" if rng.random() < 0.8 else _any(rng) + _any(rng) + _any(rng)
        content += b"(K\x03" + _text(rng, rng.choice((b"<", b">", b"|", b"x"))) + parts + b"J\xff\xff\xff\xffK\0tb"
    return content


def _shape(rng: random.Random) -> bytes:
    return b"(" + b"".join(_integer(rng) for _ in range(rng.choice((0, 1, 1, 2, 3, 40)))) + b"t"


def _array(rng: random.Random) -> bytes:
    match rng.choice((0, 1, 2, 3, 3, 3, 4)):
        case 0:  # the constructor, with a buffer
            return _name(rng, ALLOWED[:1]) + b"(" + _shape(rng) + _dtype(rng) + _bytes(rng) + b"tR"
        case 1:
            return _name(rng, ALLOWED[4:5]) + b"(" + _bytes(rng) + _dtype(rng) + _shape(rng) + _text(rng, b"C") + b"tR"
        case 2:
            return _name(rng, ALLOWED[3:4]) + _dtype(rng) + _bytes(rng) + b"\x86R"
        case 3:
            numbers = struct.pack("<4f", *(rng.random() for _ in range(4)))
            dtype = _name(rng, ALLOWED[1:2]) + _text(rng, b"f4") + b"\x85R"
            return (
                _name(rng, ALLOWED[4:5])
                + b"("
                + _bytes(rng, numbers)
                + dtype
                + b"K\x02K\x02\x86"
                + _text(rng, b"C")
                + b"tR"
            )
        case _:
            empty = _name(rng, ALLOWED[2:3]) + _name(rng, ALLOWED[:1]) + b"K\0\x85" + _bytes(rng, b"b") + b"\x87R"
            return empty + b"(K\x01" + _shape(rng) + _dtype(rng) + rng.choice((b"\x88", b"\x89")) + _bytes(rng) + b"tb"


def _keyed_vectors(rng: random.Random) -> bytes:
    words = b"](" + b"".join(_text(rng, bytes([97 + i])) for i in range(2)) + (b"e" if rng.random() < 0.9 else b"")
    state = b"}(" + _text(rng, b"index_to_key") + words + _text(rng, b"vectors") + _array(rng) + b"u"
    return _name(rng, ALLOWED[6:7]) + b")\x81" + state + b"b"


def _call(rng: random.Random) -> bytes:
    arguments = b"(" + b"".join(_any(rng) for _ in range(rng.randrange(5))) + b"t"
    how = (b"R", b"\x81", b")\x92", b"}\x92", b"b", b"o", b"i")
    return _name(rng) + arguments + rng.choice(how)


def _encode(rng: random.Random) -> bytes:
    return _name(rng, ALLOWED[5:6]) + _text(rng) + _text(rng, rng.choice((b"latin1", b"utf-8", b"hex"))) + b"\x86R"


def _memo(rng: random.Random) -> bytes:
    place = rng.choice(SIZES)
    return rng.choice((
        b"\x94", b"\x94", b"q" + bytes([place & 0xFF]), b"h" + bytes([rng.randrange(4)]), b"h\0",
        b"r" + struct.pack("<I", place & 0xFFFFFFFF),
        b"j" + struct.pack("<I", place & 0xFFFFFFFF), b"p%d\n" % place, b"g%d\n" % place,
    ))  # fmt: skip


def _constant(rng: random.Random) -> bytes:
    return rng.choice((b"N", b"\x88", b"\x89", b")", b"]", b"}", b"\x8f", b"(", b"G" + rng.randbytes(8), b"M\0\1"))


def _collect(rng: random.Random) -> bytes:
    return rng.choice(
        (
            b"a",
            b"e",
            b"s",
            b"u",
            b"\x90",
            b"\x91",
            b"t",
            b"\x85",
            b"\x86",
            b"\x87",
            b"b",
            b"R",
            b"0",
            b"1",
            b"2",
            b"l",
            b"d",
        )
    )


def _rest(rng: random.Random) -> bytes:
    size = struct.pack("<Q", rng.choice(SIZES))
    return rng.choice((
        b"\x95" + size, b"\x8b" + size[:4], b"\x8a\xff", b"P1\n", b"Q", b"\x82\1", b"\x84" + size[:4], b"\x97", b"\x98",
        b"I1\n", b"L1L\n",
        b"F1\n", b"S'a'\n", b"Va\n", bytes([rng.choice(ALL)]), rng.randbytes(3),
    ))  # fmt: skip


def _any(rng: random.Random) -> bytes:
    return rng.choice((_text, _bytes, _integer, _constant, _memo, _dtype, _array, _shape, _name))(rng)


_PIECES: tuple[Callable[[random.Random], bytes], ...] = (
    _text, _text, _bytes, _integer, _name, _dtype, _shape, _array, _call, _encode, _memo, _memo, _constant, _constant,
    _collect, _collect, _collect, _rest,
)  # fmt: skip
