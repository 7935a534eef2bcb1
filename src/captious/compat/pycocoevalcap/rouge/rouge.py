"""ROUGE-L under the toolkit's name, ``pycocoevalcap.rouge.rouge.Rouge``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.compat.pycocoevalcap.harness_input import Texts, captions
from captious.metrics import rouge_l
from captious.text import SPACES

__all__ = ["Rouge"]


class Rouge:
    """ROUGE-L.

    Attributes:
        beta: weight of recall against precision.
    """

    def __init__(self) -> None:
        self.beta = rouge_l.RougeL.beta

    def calc_score(self, candidate: list[str], refs: list[str]) -> float:
        """Score the candidate of one image, given in a list.

        Raises:
            InputError: as ``compute_score``; the image counts as image 0.
        """
        return float(self.compute_score({0: refs}, {0: candidate})[0])

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, NDArray[np.float64]]:
        """Score tokenized captions, split at single spaces: two in a row have an empty word between them.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.

        Returns:
            The mean, and float64[n_images] in the order of gts.

        Raises:
            InputError: invalid captions; the error names the image.
        """
        metric = rouge_l.RougeL(tokenizer=SPACES)
        metric.beta = self.beta
        scores = metric.scores(captions(gts, res))
        return np.float64(scores.mean()), scores

    def method(self) -> str:
        """What the toolkit calls this scorer."""
        return "Rouge"
