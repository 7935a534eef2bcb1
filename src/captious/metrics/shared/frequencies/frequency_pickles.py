"""Document frequencies as pickles, the format of training code for captioning.

A pickle holds ``{"document_frequency": {n-gram: count}, "ref_len": number of documents or its logarithm}``, or only the
frequencies. N-grams are tuples of words, or of word ids. Files may be hostile: only plain values are unpickled.
"""

from __future__ import annotations

import math
import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from captious.errors import ResourceError
from captious.files.atomic_write import whole_file

_COUNTS, _DOCUMENTS = "document_frequency", "ref_len"
_ALSO_COUNTS = "df"  # the key of vrama91/coco-caption
_HELP = "give a pickle with document_frequency and ref_len, as the training code writes it"
#: Classes that such pickles may contain besides plain values, by module and name.
_KNOWN = {
    ("collections", "defaultdict"),
    ("collections", "Counter"),
    ("collections", "OrderedDict"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
    *((module, name) for module in ("builtins", "__builtin__") for name in ("float", "int", "long", "dict", "tuple")),
}


class _Plain(pickle.Unpickler):
    """An unpickler that only creates dictionaries, tuples, text and numbers."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"it contains {module}.{name}")
        return super().find_class(module, "int" if name == "long" else name)


def read_pickle(path: str | os.PathLike[str]) -> tuple[Mapping[tuple[str, ...], int], int | None]:
    """Return the frequencies in a pickle, and the number of documents, None if it has none.

    Raises:
        ResourceError: no such file, not such a pickle, or one that contains anything but plain values.
    """
    try:
        with Path(path).open("rb") as file:
            content = _Plain(file, encoding="latin1").load()  # as the training code reads files of Python 2
        return _understood(content)
    except OSError as error:
        raise ResourceError(
            f"cannot read document frequencies: {error.strerror}", where=str(path), help=_HELP
        ) from error
    except MemoryError:
        raise
    except Exception as error:  # pickles fail in many ways
        raise ResourceError(
            "this is not a pickle of document frequencies", where=f"{path}: {error}", help=_HELP
        ) from error


def write_pickle(path: str | os.PathLike[str], counts: Mapping[tuple[str, ...], int], n_documents: int) -> None:
    """Write frequencies for training code: counts, and the number of documents.

    Raises:
        OutputError: the file cannot be written.
    """
    content = {_COUNTS: {ngram: float(count) for ngram, count in counts.items()}, _DOCUMENTS: n_documents}
    with whole_file(path, "wb") as file:
        pickle.dump(content, file, protocol=2)


def _understood(content: Any) -> tuple[Mapping[tuple[str, ...], int], int | None]:
    if not isinstance(content, Mapping):
        raise ValueError(f"it holds a {type(content).__name__}")
    frequencies = content.get(_COUNTS, content.get(_ALSO_COUNTS, content))
    counts = {_ngram(ngram): count for ngram, value in frequencies.items() if (count := _whole(value))}
    if frequencies is content:
        return counts, None
    return counts, _documents(content[_DOCUMENTS], max(counts.values(), default=1))


def _ngram(ngram: Any) -> tuple[str, ...]:
    if not isinstance(ngram, tuple) or not 1 <= len(ngram) <= 4:
        raise ValueError(f"{ngram!r:.60} is not an n-gram of 1 to 4 words")
    if not all(isinstance(word, str | int | np.integer) for word in ngram):
        raise ValueError(f"{ngram!r:.60} does not consist of words or of their ids")
    return ngram if all(type(word) is str for word in ngram) else tuple(map(str, ngram))


def _whole(count: Any) -> int:
    value = float(count)
    if value != int(value) or value < 0:
        raise ValueError(f"{count!r:.60} is not a number of documents")
    return int(value)


def _documents(size: Any, largest: int) -> int:
    """Return the number of documents. A number smaller than the largest count is a logarithm."""
    value = float(size)
    if value >= largest and value == int(value):
        return int(value)
    n = round(math.exp(value)) if value < math.log(1 << 53) else 0
    if n < largest or not math.isclose(math.log(n), value, rel_tol=1e-6):
        raise ValueError(f"{size!r:.60} is neither the number of documents nor its logarithm")
    return n
