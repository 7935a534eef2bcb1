"""Div-1 and Div-2: distinct n-grams among the candidates of an image, over their number of words.

Shetty et al. 2017, after Li et al. 2016 (distinct-1 and distinct-2). The official variant is `compute_div_n` of
self-critical.pytorch (`div_utils.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import CaptionSets
from captious.metrics.contract.metric import State
from captious.metrics.contract.set_metrics import SetMeanMetric
from captious.native import distinct_ngrams
from captious.text import NgramLayer, WordLayer

_SMALL = 1e-6  # added by the official code to the number of words


class Div(SetMeanMetric):
    """Div-1 and Div-2, each 0 to 1, higher is more diverse. The corpus score is the mean over images.

    Both are divided by the number of words of all candidates of the image: Div-2 of captions without a common bigram is
    below 1. N-grams do not cross captions.

    Statistics (k = 4): both scores, and 1 twice.
    """

    name = "div"
    outputs = ("div-1", "div-2")
    summary = "distinct words and bigrams of an image's candidates"
    variants: ClassVar[Mapping[str, str]] = {
        "official": "self-critical.pytorch: 1e-6 added to the number of words",
        "paper": "nothing added; 0 without words",
    }
    needs_references = False

    def scores(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        distinct = distinct_ngrams(sets.candidates.layer(NgramLayer(self.tokenizer)))[:, :2]
        tokens = sets.candidates.layer(WordLayer(self.tokenizer))
        ends = tokens.offsets[sets.candidates.offsets]
        words = np.diff(ends)[:, None]
        if self.variant == "official":
            return np.asarray(distinct / (_SMALL + words))
        return np.asarray(distinct / np.maximum(words, 1))
