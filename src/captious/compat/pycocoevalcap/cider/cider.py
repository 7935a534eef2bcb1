"""CIDEr-D under the toolkit's name, ``pycocoevalcap.cider.cider.Cider``."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from captious.compat.df_files import CORPUS, frequencies
from captious.compat.pycocoevalcap.cider.cider_scorer import CiderScorer
from captious.compat.pycocoevalcap.harness_input import Texts, captions
from captious.compat.pycocoevalcap.scorer import MeanScorer
from captious.errors import ParameterError
from captious.metrics import cider_d
from captious.metrics.shared.document_frequencies import DocumentFrequencies
from captious.text import WHITESPACE

__all__ = ["Cider", "CiderScorer"]


class Cider(MeanScorer):
    """CIDEr-D, which the toolkit calls CIDEr, with the document frequencies of the references that are scored against.

    Captions are split at white space; scores are 0 to 10. No images at all are a ``ValueError``, as there.

    Args:
        test: as some forks call it, document frequencies, like ``df``; otherwise ignored, as in the toolkit.
        refs: accepted and ignored, as in the toolkit.
        n: 4; the toolkit's scores with another n are wrong or an error.
        sigma: width of the length penalty, in words.
        df: an argument of forks: "corpus", or document frequencies from a pickle, its path or its name in the folder
            ``data`` ("coco-val-df").
    """

    _name = "CIDEr"
    _refuses_nothing = True
    _given: DocumentFrequencies | None = None

    def __init__(
        self,
        test: object = None,
        refs: object = None,
        n: int = 4,
        sigma: float = 6.0,
        df: str | os.PathLike[str] = CORPUS,
    ) -> None:
        if isinstance(test, str) and refs is None:
            df = test
        self._n = n
        self._sigma = sigma
        self._given = frequencies(df)
        self._metric()

    def _metric(self) -> cider_d.CiderD:
        if self._n != 4:
            raise ParameterError(f"CIDEr-D up to order {self._n!r} is not supported", help="leave n at 4")
        return cider_d.CiderD(self._given, sigma=self._sigma, tokenizer=WHITESPACE)

    def _scores(self, gts: Texts, res: Texts) -> NDArray[np.float64]:
        return self._metric().scores(captions(gts, res))
