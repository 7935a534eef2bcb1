"""KeyedVectors saved by gensim: a pickle, often accompanied by a .npy file. gensim is not needed.

A pickle can run any code, so it is read as data: see ``captious.resources.pickles``.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from captious.files.decompression import is_unpacked
from captious.resources.npy_files import map_npy
from captious.resources.pickles import PickledObject, PickleError, read_pickle
from captious.resources.vectors.vector_source import VectorFileError, encoded


def read(path: Path, file: IO[bytes]) -> tuple[list[bytes], NDArray[Any]]:
    """Read the words and their vectors.

    Raises:
        ResourceError: not such a file, or a file that belongs to it is missing.
    """
    data = file.read() if is_unpacked(file) else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        saved = read_pickle(data)
    except PickleError as error:
        reason = f"not gensim KeyedVectors ({error})"
        raise VectorFileError(reason, "if gensim saved a whole model, save only model.wv") from error
    attributes = saved.attributes if isinstance(saved, PickledObject) else {}
    words = attributes.get("index_to_key", attributes.get("index2word"))
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise VectorFileError("not gensim KeyedVectors: it contains no words", "save model.wv, not the model")
    if sum(map(len, words)) > len(data):
        raise VectorFileError("not gensim KeyedVectors: it contains duplicate words")
    if "bucket" in attributes:
        raise VectorFileError(
            "gensim FastText vectors, which are saved in several files", "save them with save_facebook_model"
        )
    vectors = attributes.get("vectors", attributes.get("syn0"))
    if vectors is None:
        second = path.with_name(f"{path.name}.vectors.npy")
        try:
            vectors = map_npy(second)
        except (OSError, ValueError) as error:
            raise VectorFileError(
                f"its vectors cannot be read from {second.name}", "keep both gensim files in the same folder"
            ) from error
    if not isinstance(vectors, np.ndarray):
        raise VectorFileError("not gensim KeyedVectors: its vectors are not numbers", "save model.wv, not the model")
    return encoded(words), vectors
