"""CIDEr-D on counts of n-grams, under the name ``pyciderevalcap.ciderD.ciderD_scorer.CiderScorer``.

scorer = CiderScorer(df_mode="corpus")
scorer += (candidate, references)
scorer.compute_doc_freq()
scorer.document_frequency
"""

from __future__ import annotations

from captious.compat.counted_ngrams import cook_refs, cook_test, precook
from captious.compat.pyciderevalcap.scorers import FrequencyScorer

__all__ = ["CiderScorer", "cook_refs", "cook_test", "precook"]


class CiderScorer(FrequencyScorer):
    """CIDEr-D of counted captions; the arguments are those of ``FrequencyScorer``."""
