"""CIDEr under the name of the authors' code, ``pyciderevalcap.cider.cider.Cider``."""

from __future__ import annotations

import os

from captious.compat.df_files import CORPUS
from captious.compat.pyciderevalcap.cider.cider_scorer import CiderScorer
from captious.compat.pyciderevalcap.rewards import Rewards
from captious.metrics import cider
from captious.metrics.shared.document_frequencies import DocumentFrequencies
from captious.text import WHITESPACE

__all__ = ["Cider"]


class Cider(Rewards):
    """CIDEr, 0 to 10, without the clipping and the length penalty of CIDEr-D.

    Args:
        n: 4.
        df: as in ``CiderD``.
    """

    _scorer = CiderScorer

    def __init__(self, n: int = 4, df: str | os.PathLike[str] = CORPUS) -> None:
        super().__init__(n, df)

    def _metric(self, idf: DocumentFrequencies) -> cider.Cider:
        return cider.Cider(idf, tokenizer=WHITESPACE)

    def method(self) -> str:
        """What the code calls this scorer."""
        return "CIDEr"
