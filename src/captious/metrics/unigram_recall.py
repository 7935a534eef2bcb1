"""Unigram recall: the share of a reference's words in the candidate, for the best reference.

A feature of LCEval (Sharif et al. 2019), whose code for it was never released.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.shared.reference_scores import CombineParameter, combine_references
from captious.native import ngram_matches, threads
from captious.text import NgramLayer, WordLayer


class UnigramRecall(MeanMetric):
    """Clipped matching words divided by the words of the reference, best reference; 0 to 1.

    The corpus score is the mean. 0 for a reference without words.
    """

    name = "unigram-recall"
    summary = "share of a reference's words found in the candidate, best reference"
    variants: ClassVar[Mapping[str, str]] = {"paper": "LCEval"}

    combine: CombineParameter = CombineParameter(default="max")

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, index = captions.layer(NgramLayer(self.tokenizer))
        lengths = captions.references.layer(WordLayer(self.tokenizer)).lengths
        matches = ngram_matches(index, candidates.ids, candidates.offsets, threads())[:, 0]
        return combine_references(self.combine, matches / np.maximum(lengths, 1), captions.references.offsets)
