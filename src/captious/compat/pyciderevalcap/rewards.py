"""What ``Cider`` and ``CiderD`` of the authors' code share: a list of candidates, any number of them for an image."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.errors import InputError, ParameterError, ResourceError
from captious.metrics.cider import Cider
from captious.metrics.shared.document_frequencies import DocumentFrequencies
from captious.text import WHITESPACE

__all__ = ["Rewards"]

#: What the code calls the document frequencies of the references at hand.
CORPUS = "corpus"


class Rewards:
    """A scorer of the authors' code.

    Args:
        df: "corpus", or document frequencies: a pickle, its path or its name in the folder ``data``.
    """

    def __init__(self, df: str | os.PathLike[str]) -> None:
        self._df = df
        frequencies = None if df == CORPUS else DocumentFrequencies.from_pickle(_file(df), tokenizer=WHITESPACE)
        self._given = frequencies

    def _metric(self, idf: DocumentFrequencies) -> Cider:
        raise NotImplementedError

    def compute_score(
        self, gts: Mapping[Any, list[str]], res: Sequence[Mapping[str, Any]]
    ) -> tuple[np.float64, NDArray[np.float64]]:
        """Score tokenized captions.

        Args:
            gts: image id -> list of references, words set apart by spaces.
            res: candidates, each ``{"image_id": id, "caption": [text]}``; any number for an image.

        Returns:
            The mean, and float64[n_candidates] in the order of ``res``.

        Raises:
            InputError: a candidate of another form, or without references.
        """
        if not res:
            raise InputError("there are no candidates", where="res", help="give one or more")
        texts = [_candidate(gts, number, each) for number, each in enumerate(res)]
        groups = [gts[each["image_id"]] for each in res]
        if self._given is None:  # every candidate is a document, with its references
            table = _table(groups)
            scores = self._metric(DocumentFrequencies.of(table, WHITESPACE)).scores(Captions(tuple(texts), table))
        else:
            # Code gives the same list for all candidates of an image, under ids of their own.
            row_of: dict[int, int] = {}
            rows = [row_of.setdefault(id(group), len(row_of)) for group in groups]
            distinct = {id(group): group for group in groups}
            scores = self._metric(self._given).scorer(_table([*distinct.values()]))(rows, texts)
        return np.float64(scores.mean()), scores


def _file(df: str | os.PathLike[str]) -> Path:
    """The pickle: a path, or a name as the authors' code takes it, of a file in ``data``."""
    candidates = [Path(df), Path(f"{os.fspath(df)}.p"), Path("data") / f"{os.fspath(df)}.p"]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        raise ResourceError(
            f"there are no document frequencies {os.fspath(df)!r}",
            where=", ".join(map(str, candidates)),
            help='give the path of a pickle, or df="corpus"',
        )
    return found


def _table(groups: Sequence[Sequence[str]]) -> References:
    return References(
        ids=tuple(range(len(groups))),
        texts=tuple(text for group in groups for text in group),
        offsets=np.cumsum([0, *map(len, groups)]),
        name="gts",
    )


def _candidate(gts: Mapping[Any, list[str]], number: int, each: Any) -> str:
    """The text of a candidate, checked with its references."""
    try:
        image, caption = each["image_id"], each["caption"]
    except (KeyError, TypeError):
        raise InputError(
            'a candidate is not a dictionary with "image_id" and "caption"', where=f"res[{number}]"
        ) from None
    if not (isinstance(caption, list) and len(caption) == 1 and isinstance(caption[0], str)):
        raise InputError(
            "the caption of a candidate is not a list of one text", where=f"res[{number}]: {caption!r:.80}"
        )
    references = gts.get(image)
    if not (isinstance(references, list) and references and all(isinstance(text, str) for text in references)):
        raise InputError("an image has no list of references", where=f"gts: image_id {image!r}")
    return caption[0]


def check_order(n: int) -> None:
    """Refuse orders other than 4, which the code accepts and scores wrongly.

    Raises:
        ParameterError: another order.
    """
    if n != 4:
        raise ParameterError(f"n-grams up to order {n!r} are not supported", help="leave n at 4")
