"""KeyedVectors that gensim has saved: a pickle, and often a .npy file beside it. gensim is not needed.

A pickle can run any code. Here only what such a file consists of is let through: lists, numbers, strings, arrays, and
gensim's objects as bags of attributes.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from captious.resources.vector_source import broken

__all__ = ["read"]

_NUMPY = {
    ("multiarray", "_reconstruct"),
    ("multiarray", "scalar"),
    ("numeric", "_frombuffer"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
}


class _Attributes:
    """An object of gensim, of which only the attributes are kept."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] == "gensim":
            return _Attributes
        if module.partition(".")[0] == "numpy" and (module.rpartition(".")[2], name) in _NUMPY:
            return super().find_class(module, name)
        if (module, name) == ("_codecs", "encode"):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} has no place in it")


def read(path: Path, file: IO[bytes]) -> tuple[list[bytes], NDArray[Any]]:
    """The words and their vectors.

    Raises:
        ResourceError: something else, or a file beside it is missing.
    """
    try:
        saved = vars(_Unpickler(file).load())
    except Exception as error:  # what a damaged pickle raises is many things
        reason = f"no KeyedVectors of gensim ({error})"
        raise broken(path, "", reason, "if gensim saved a whole model, save model.wv alone") from error
    words = saved.get("index_to_key", saved.get("index2word"))
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise broken(path, "", "no KeyedVectors of gensim: it has no words", "save model.wv, not the model")
    if "bucket" in saved:
        raise broken(
            path, "", "gensim's FastText vectors, which are saved in pieces", "save them with save_facebook_model"
        )
    vectors = saved.get("vectors", saved.get("syn0"))
    if vectors is None:
        beside = path.with_name(f"{path.name}.vectors.npy")
        try:
            vectors = np.load(beside, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise broken(
                path, "", f"its vectors cannot be read from {beside.name}", "keep both files of gensim in one folder"
            ) from error
    return [word.encode("utf-8", "surrogatepass") for word in words], np.asarray(vectors)
