"""ROUGE-1 to ROUGE-4: n-gram recall over all references.

Lin 2004, section 2; Chen et al. 2015 (COCO), equation 4. There is no official code for captions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, State
from captious.native import ngram_matches, threads
from captious.text import NgramLayer, WordLayer


class RougeN(MeanMetric):
    """Matching n-grams over all references of the image, divided by all their n-grams; 0 to 1, higher is better.

    The score is 0 if the references have no n-gram of that order. The corpus score is the mean.
    """

    name = "rouge-n"
    outputs = ("rouge-1", "rouge-2", "rouge-3", "rouge-4")
    summary = "n-gram recall, pooled over references"
    variants: ClassVar[Mapping[str, str]] = {"paper": "COCO paper, equation 4"}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, index = captions.layer(NgramLayer(self.tokenizer))
        starts = captions.references.offsets[:-1]
        matches = ngram_matches(index, candidates.ids, candidates.offsets, threads())
        words = captions.references.layer(WordLayer(self.tokenizer))
        ngrams = np.maximum(words.lengths[:, None] - np.arange(4), 0)
        n_matches, total = np.add.reduceat(matches, starts), np.add.reduceat(ngrams, starts)
        return n_matches / np.maximum(total, 1)
