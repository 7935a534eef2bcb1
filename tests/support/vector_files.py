"""Small files of word vectors in every form, written as their programs write them."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
import sys
import types
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

Vectors = Mapping[str, np.ndarray]


@cache
def read_text(path: Path) -> dict[str, np.ndarray]:
    """Return the vectors of a GloVe file, by the slow and obvious way."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split(" ") for line in file]
    return {word: np.array(numbers, np.float64).astype(np.float32) for word, *numbers in rows}


def text_of(vectors: Vectors, *, header: bool = False, trailing: str = "") -> bytes:
    """GloVe's text; with a header word2vec's, which like fastText's ends lines in a space."""
    width = len(next(iter(vectors.values())))
    lines = [f"{len(vectors)} {width}"] if header else []
    lines += [f"{word} {' '.join(repr(float(x)) for x in vector)}{trailing}" for word, vector in vectors.items()]
    return "".join(f"{line}\n" for line in lines).encode()


def binary_of(vectors: Vectors, *, newline: bool = True) -> bytes:
    """word2vec's binary form, with or without a line break behind every vector."""
    width = len(next(iter(vectors.values())))
    out = f"{len(vectors)} {width}\n".encode()
    for word, vector in vectors.items():
        out += word.encode() + b" " + vector.astype("<f4").tobytes() + b"\n" * newline
    return out


def npz_of(vectors: Vectors) -> bytes:
    file = io.BytesIO()
    np.savez(file, words=np.array([*vectors]), vectors=np.stack([*vectors.values()]))
    return file.getvalue()


def write_keyed_vectors(path: Path, vectors: Vectors, *, beside: bool) -> None:
    """Write a file as gensim's KeyedVectors.save does; large arrays go to a file beside it."""
    gensim, models, module = (types.ModuleType(name) for name in ("gensim", "gensim.models", "keyedvectors"))

    class KeyedVectors:
        pass

    KeyedVectors.__module__, KeyedVectors.__qualname__ = "gensim.models.keyedvectors", "KeyedVectors"
    module.KeyedVectors = KeyedVectors  # type: ignore[attr-defined]
    matrix = np.stack([*vectors.values()])
    saved: Any = KeyedVectors()
    saved.vector_size = matrix.shape[1]
    saved.index_to_key = [*vectors]
    saved.key_to_index = {word: row for row, word in enumerate(vectors)}
    saved.expandos = {"count": np.arange(len(vectors))}
    saved.norms = None
    if beside:
        np.save(path.with_name(f"{path.name}.vectors.npy"), matrix)
    else:
        saved.vectors = matrix
    names = {"gensim": gensim, "gensim.models": models, "gensim.models.keyedvectors": module}
    with mock.patch.dict(sys.modules, names):
        path.write_bytes(pickle.dumps(saved, protocol=4))


def fasttext_of(
    own: Vectors, n_grams: np.ndarray, *, shortest: int = 3, longest: int = 6, output: bool = True, version: int = 12
) -> bytes:
    """Return a model of fastText with these rows of words and n-grams."""
    width, buckets = len(next(iter(own.values()))), len(n_grams)
    out = struct.pack("<2i", 793712314, version)
    out += struct.pack("<12id", width, 5, 5, 1, 5, 1, 2, 2, buckets, shortest, longest, 100, 1e-4)
    out += struct.pack("<3iqq", len(own), len(own), 0, 1000, -1)
    for word in own:
        out += word.encode() + b"\0" + struct.pack("<qb", 7, 0)
    matrix = np.concatenate([np.stack([*own.values()]), n_grams]).astype("<f4")
    out += struct.pack("<?qq", False, *matrix.shape) + matrix.tobytes()
    if output:
        out += struct.pack("<?qq", False, len(own), width) + bytes(4 * len(own) * width)
    return out


def fasttext_pieces(word: str, shortest: int, longest: int, buckets: int) -> list[int]:
    """Return buckets of the n-grams of a word, by the definition of the hash."""
    text = f"<{word}>"
    found = []
    for start in range(len(text)):
        for n in range(shortest, longest + 1):
            piece = text[start : start + n]
            if len(piece) < n or (n == 1 and start in (0, len(text) - 1)):
                continue
            value = 2166136261
            for byte in piece.encode():
                value = ((value ^ (byte | 0xFFFFFF00 if byte > 127 else byte)) * 16777619) % (1 << 32)
            found.append(value % buckets)
    return found
