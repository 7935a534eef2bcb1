"""ROUGE-L under the toolkit's name, ``pycocoevalcap.rouge.rouge.Rouge``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.compat.pycocoevalcap.harness_input import Texts
from captious.compat.pycocoevalcap.mean_scorer import MeanScorer
from captious.metrics import rouge_l
from captious.text import SPACES

__all__ = ["Rouge"]


class Rouge(MeanScorer):
    """ROUGE-L.

    Captions are split at single spaces: two in a row have an empty word between them.

    Attributes:
        beta: weight of recall against precision.
    """

    _metric: rouge_l.RougeL

    def __init__(self) -> None:
        self._metric = rouge_l.RougeL(tokenizer=SPACES)
        self.beta = rouge_l.RougeL.beta

    def calc_score(self, candidate: list[str], refs: list[str]) -> float:
        """Score the candidate of one image, given in a list.

        Raises:
            InputError: as ``compute_score``; the image counts as image 0.
        """
        return float(self.compute_score({0: refs}, {0: candidate})[0])

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, NDArray[np.float64]]:
        """As of ``MeanScorer``, with the present ``beta``."""
        self._metric.beta = self.beta
        return super().compute_score(gts, res)

    def method(self) -> str:
        """What the toolkit calls this scorer."""
        return "Rouge"
