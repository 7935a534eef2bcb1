"""MOWE and WEmbSim: metrics on the means of word vectors."""

from __future__ import annotations

from captious.metrics.shared.arithmetic import CombineParameter
from captious.metrics.shared.word_vectors import WordMeanMetric

# MOWE: cosine of the mean word vectors of candidate and reference.
#
# Sharif, White, Bennamoun, Liu and Shah 2019 (LCEval); the official variant is the feature of LCEval's code.


class Mowe(WordMeanMetric):
    """Cosine of the means of word vectors, -1 to 1, higher is better; the best reference is used.

    A caption in which no word has a vector scores -1. The corpus score is the mean. Before lookup, tokens are
    lower-cased, and full stops, commas and quotes are removed from them.
    """

    name = "mowe"
    bounds = (-1.0, 1.0)
    summary = "cosine of mean word vectors, best reference"
    variants = {"official": "LCEval's code"}
    score_of_nothing = -1.0
    combine: CombineParameter = CombineParameter(default="max")
    form = "letters"


# WEmbSim: cosine of the mean word vectors of candidate and reference, averaged over references.
#
# Sharif, White, Bennamoun, Liu and Shah 2020; there is no official code.


class Wembsim(WordMeanMetric):
    """Absolute cosine of the means of word vectors, 0 to 1, higher is better; the mean over references.

    A caption in which no word has a vector scores 0; the publication leaves this open. The corpus score is the mean.
    """

    name = "wembsim"
    summary = "cosine of mean word vectors, averaged over references"
    variants = {"paper": "as published: absolute values, mean over references"}
    absolute = True
