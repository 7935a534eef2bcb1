"""N-gram precision of order 1 to 4, as in BLEU, by caption and without the brevity penalty.

A feature of LCEval (Sharif et al. 2019): the proportion of a candidate's n-grams that match a reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.shared.reference_scores import CombineParameter, combine_references
from captious.native import bleu_statistics, ngram_matches, threads
from captious.text import NgramLayer

_TINY, _SMALL = 1e-15, 1e-9  # constants of BLEU in the COCO toolkit, the source of LCEval's features


class NgramPrecision(MeanMetric):
    """Clipped n-gram matches divided by the candidate's n-grams, each 0 to 1. The corpus score is the mean.

    With several references, "max" clips the count of an n-gram at its maximum over references, as BLEU does; "mean" and
    "min" are the mean and minimum of the precisions with each reference.
    """

    name = "ngram-precision"
    outputs = ("ngram-precision-1", "ngram-precision-2", "ngram-precision-3", "ngram-precision-4")
    summary = "share of the candidate's n-grams found in a reference"
    variants: ClassVar[Mapping[str, str]] = {
        "official": "LCEval: with the constants of the COCO toolkit's BLEU",
        "paper": "the plain proportion; 0 for a candidate too short to have an n-gram",
    }

    combine: CombineParameter = CombineParameter(default="max")

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(NgramLayer(self.tokenizer))
        counts = bleu_statistics(references, candidates.ids, candidates.offsets, threads())
        matches, ngrams = counts[:, 0:4], counts[:, 4:8]
        if self.combine == "max":
            return self._precision(matches, ngrams)
        offsets = captions.references.offsets
        precisions = self._precision(
            ngram_matches(references, candidates.ids, candidates.offsets, threads()),
            np.repeat(ngrams, np.diff(offsets), axis=0),
        )
        return combine_references(self.combine, precisions, offsets)

    def _precision(self, matches: NDArray[np.number], ngrams: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.variant == "official":
            return np.asarray((matches + _TINY) / (ngrams + _SMALL))
        return np.asarray(matches / np.maximum(ngrams, 1))
