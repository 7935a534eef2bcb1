"""The argument ``df`` of scorers in other toolkits: "corpus", or a pickle of document frequencies."""

from __future__ import annotations

import os
from pathlib import Path

from captious.errors import ResourceError
from captious.metrics.shared.frequencies.document_frequencies import DocumentFrequencies
from captious.text import WHITESPACE

__all__ = ["CORPUS", "frequencies"]

#: The toolkits' name for the document frequencies of the references at hand.
CORPUS = "corpus"
#: Number of documents of pickles that do not say: those of COCO's validation images, from CIDEr's authors.
_DOCUMENTS = {"coco-val": 40_504, "coco-val-df": 40_504}


def frequencies(df: str | os.PathLike[str]) -> DocumentFrequencies | None:
    """Return document frequencies; None for those of the current references.

    Args:
        df: "corpus", or a pickle: its path, or its name in the folder ``data`` without the extension ``.p``.

    Raises:
        ResourceError: no such file, or not such a pickle.
        ParameterError: a pickle without the number of documents.
    """
    if df == CORPUS:
        return None
    paths = [Path(df), Path(f"{os.fspath(df)}.p"), Path("data") / f"{os.fspath(df)}.p"]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise ResourceError(
            f"there are no document frequencies {os.fspath(df)!r}",
            where=", ".join(map(str, paths)),
            help='give the path of a pickle, or df="corpus"',
        )
    return DocumentFrequencies.from_pickle(path, n_documents=_DOCUMENTS.get(path.stem), tokenizer=WHITESPACE)
