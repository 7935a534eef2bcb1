"""GLEU of Google: the smaller one of n-gram precision and recall, for the best reference.

Wu et al. 2016, section 5. The official variant is nltk's ``gleu_score``; the authors released no code.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import Metric, State
from captious.metrics.shared.arithmetic import first_best, share
from captious.native import ngram_matches, threads
from captious.text import NgramLayer, WordLayer


class Gleu(Metric):
    """Matching n-grams of 1 to 4 words, divided by those of the longer caption; 0 to 1, higher is better.

    Statistics (k = 2): clipped matches with the best reference, and n-grams of the longer one of candidate and
    reference. The best reference has the highest ratio; of several, the first counts. Sentence and corpus scores use
    the same formula, applied to one row and to the sum of rows.
    """

    name = "gleu"
    summary = "smaller one of n-gram precision and recall, best reference"
    variants = {"official": "nltk's gleu_score, n-grams of 1 to 4 words"}

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, index = captions.layer(NgramLayer(self.tokenizer))
        offsets = captions.references.offsets
        matches = ngram_matches(index, candidates.ids, candidates.offsets, threads()).sum(axis=1)
        of_candidates = np.repeat(_n_ngrams(candidates.lengths), np.diff(offsets))
        of_references = _n_ngrams(captions.references.layer(WordLayer(self.tokenizer)).lengths)
        n_ngrams = np.maximum(of_candidates, of_references)
        # two captions without words are compared last
        best = first_best(share(matches, n_ngrams, -1.0), offsets)
        return np.stack([matches[best], n_ngrams[best]], axis=1).astype(np.float64)

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        return statistics[..., :1] / np.maximum(statistics[..., 1:], 1)


def _n_ngrams(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of n-grams of 1 to 4 words in captions of these lengths."""
    return np.asarray(np.maximum(lengths[:, None] - np.arange(4), 0).sum(axis=1))
