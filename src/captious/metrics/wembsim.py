"""WEmbSim: cosine of the mean word vectors of candidate and reference, averaged over references.

Sharif, White, Bennamoun, Liu and Shah 2020; there is no official code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from captious.metrics.shared.word_means import WordMeanMetric


class Wembsim(WordMeanMetric):
    """Absolute cosine of the means of word vectors, 0 to 1, higher is better; the mean over references.

    A caption in which no word has a vector scores 0; the publication leaves this open. The corpus score is the mean.
    """

    name = "wembsim"
    summary = "cosine of mean word vectors, averaged over references"
    variants: ClassVar[Mapping[str, str]] = {"paper": "as published: absolute values, mean over references"}
    absolute = True
