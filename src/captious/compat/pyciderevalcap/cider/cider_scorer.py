"""CIDEr on counts of n-grams, under the name ``pyciderevalcap.cider.cider_scorer.CiderScorer``."""

from __future__ import annotations

from captious.compat.counted_ngrams import cook_refs, cook_test, precook
from captious.compat.pyciderevalcap.scorers import FrequencyScorer

__all__ = ["CiderScorer", "cook_refs", "cook_test", "precook"]


class CiderScorer(FrequencyScorer):
    """CIDEr of counted captions, without clipping or a length penalty; for the arguments see ``FrequencyScorer``."""

    _is_d = False
