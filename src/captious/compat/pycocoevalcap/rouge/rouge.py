"""ROUGE-L under the toolkit's name, ``pycocoevalcap.rouge.rouge.Rouge``."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from captious.compat.pycocoevalcap.harness_input import Texts, captions
from captious.compat.pycocoevalcap.scorer import MeanScorer
from captious.metrics import rouge_l
from captious.text import SPACES

__all__ = ["Rouge", "my_lcs"]


def my_lcs(string: Sequence[Hashable], sub: Sequence[Hashable]) -> int:
    """Length of the longest common subsequence of two lists of words."""
    row = [0] * (len(sub) + 1)
    for word in string:
        before = 0  # of the row above, one to the left
        for column, other in enumerate(sub, 1):
            above = row[column]
            row[column] = before + 1 if word == other else max(above, row[column - 1])
            before = above
    return row[-1]


class Rouge(MeanScorer):
    """ROUGE-L; a ``calc_score`` that a subclass defines is called for every image.

    Captions are split at single spaces: two in a row have an empty word between them.

    Attributes:
        beta: weight of recall against precision.
    """

    _name = "Rouge"

    def __init__(self) -> None:
        self.beta = rouge_l.RougeL.beta

    def calc_score(self, candidate: Sequence[str], refs: Sequence[str]) -> float:
        """Score the candidate of one image, given in a list.

        Raises:
            InputError: as ``compute_score``; the image counts as image 0.
        """
        captions({0: list(refs)}, {0: list(candidate)})
        words = candidate[0].split(" ")
        pairs = [(my_lcs(other, words), len(other)) for other in (reference.split(" ") for reference in refs)]
        precision, recall = max(lcs for lcs, _ in pairs) / len(words), max(lcs / length for lcs, length in pairs)
        if not precision or not recall:
            return 0.0
        return (1 + self.beta**2) * precision * recall / (recall + self.beta**2 * precision)

    def _scores(self, gts: Texts, res: Texts) -> NDArray[np.float64]:
        table = captions(gts, res)
        if type(self).calc_score is not Rouge.calc_score:
            return np.array([self.calc_score(res[image], gts[image]) for image in gts])
        metric = rouge_l.RougeL(tokenizer=SPACES)
        metric.beta = self.beta
        return metric.scores(table)
