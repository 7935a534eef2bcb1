"""CIDEr under the name of the authors' code, ``pyciderevalcap.cider.cider.Cider``."""

from __future__ import annotations

import os

from captious.compat.pyciderevalcap.rewards import CORPUS, Rewards, check_order
from captious.metrics import cider
from captious.metrics.shared.document_frequencies import DocumentFrequencies
from captious.text import WHITESPACE

__all__ = ["Cider"]


class Cider(Rewards):
    """CIDEr, 0 to 10, without the clipping and the length penalty of CIDEr-D.

    Args:
        n: 4.
        df: as of ``CiderD``.
    """

    def __init__(self, n: int = 4, df: str | os.PathLike[str] = CORPUS) -> None:
        check_order(n)
        super().__init__(df)

    def _metric(self, idf: DocumentFrequencies) -> cider.Cider:
        return cider.Cider(idf, tokenizer=WHITESPACE)

    def method(self) -> str:
        """What the code calls this scorer."""
        return "CIDEr"
