"""CIDEr-D under the name of the authors' code, ``pyciderevalcap.ciderD.ciderD.CiderD``."""

from __future__ import annotations

import os

from captious.compat.df_files import CORPUS
from captious.compat.pyciderevalcap.ciderD.ciderD_scorer import CiderScorer
from captious.compat.pyciderevalcap.rewards import Rewards
from captious.metrics import cider, cider_d
from captious.metrics.shared.document_frequencies import DocumentFrequencies
from captious.text import WHITESPACE

__all__ = ["CiderD"]


class CiderD(Rewards):
    """CIDEr-D, 0 to 10, the reward of self-critical training.

    Args:
        n: 4.
        sigma: accepted and ignored, as there; it is 6.
        df: "corpus" to count the references of each call, where every candidate is a document; or document frequencies
            in a pickle, its path or its name in the folder ``data`` ("coco-train-idxs").
    """

    _scorer = CiderScorer

    def __init__(self, n: int = 4, sigma: float = 6.0, df: str | os.PathLike[str] = CORPUS) -> None:
        super().__init__(n, df)
        self._sigma = sigma

    def _metric(self, idf: DocumentFrequencies) -> cider.Cider:
        return cider_d.CiderD(idf, tokenizer=WHITESPACE)

    def method(self) -> str:
        """What the code calls this scorer."""
        return "CIDEr-D"
