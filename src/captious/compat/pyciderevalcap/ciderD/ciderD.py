"""CIDEr-D under the name of the authors' code, ``pyciderevalcap.ciderD.ciderD.CiderD``."""

from __future__ import annotations

import os

from captious.compat.pyciderevalcap.rewards import CORPUS, Rewards, check_order
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

    def __init__(self, n: int = 4, sigma: float = 6.0, df: str | os.PathLike[str] = CORPUS) -> None:
        check_order(n)
        super().__init__(df)

    def _metric(self, idf: DocumentFrequencies) -> cider.Cider:
        return cider_d.CiderD(idf, tokenizer=WHITESPACE)

    def method(self) -> str:
        """What the code calls this scorer."""
        return "CIDEr-D"
