"""ROUGE-L: longest common subsequence.

Lin 2004, section 3; Chen et al. 2015 (COCO), equations 5 to 7. The official variant is the COCO caption toolkit,
which takes the best precision and the best recall over references independently.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, State
from captious.native import lcs_lengths, threads
from captious.text import TokenLayer

__all__ = ["RougeL", "f_measure"]


class RougeL(MeanMetric):
    """ROUGE-L, 0 to 1, higher is better. The corpus score is the mean.

    An empty caption counts as one empty word, which matches only another empty caption: the official code splits
    at single spaces.
    """

    name = "rouge-l"
    summary = "F-measure of the longest common subsequence, beta 1.2"
    variants: ClassVar[Mapping[str, str]] = {
        "official": "COCO toolkit and paper: best precision and best recall, each over all references",
        "lin2004": "Lin 2004: F-measure with each reference, then the best",
    }
    beta = 1.2

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "beta": self.beta}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(TokenLayer(self.tokenizer))
        image_offsets = captions.references.offsets
        starts, counts = image_offsets[:-1], np.diff(image_offsets)
        lcs = lcs_lengths(
            candidates.ids, candidates.offsets, references.ids, references.offsets, image_offsets, threads()
        )
        lengths, reference_lengths = np.repeat(candidates.lengths, counts), references.lengths
        lcs = np.where((lengths == 0) & (reference_lengths == 0), 1, lcs)
        precision, recall = lcs / np.maximum(lengths, 1), lcs / np.maximum(reference_lengths, 1)
        if self.variant == "official":
            best = np.maximum.reduceat(precision, starts), np.maximum.reduceat(recall, starts)
            return f_measure(*best, self.beta)
        return np.asarray(np.maximum.reduceat(f_measure(precision, recall, self.beta), starts))


def f_measure(precision: NDArray[np.float64], recall: NDArray[np.float64], beta: float) -> NDArray[np.float64]:
    """F-measure; 0 where precision or recall is 0."""
    weighted = (1 + beta**2) * precision * recall
    return np.divide(weighted, recall + beta**2 * precision, out=np.zeros_like(weighted), where=weighted > 0)
