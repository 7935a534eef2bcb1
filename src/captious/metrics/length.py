"""Length: words per caption, and words of candidates divided by words of their references.

Neither longer nor shorter captions are better; these numbers help to interpret other scores.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import Metric, State
from captious.metrics.shared.arithmetic import combine_references, first_best, share
from captious.text import WordLayer


class Length(Metric):
    """Words per caption; and words of the candidates over words of references, 0 without reference words.

    Neither higher nor lower is better. The ratio of a corpus is that of the sums, not the mean of ratios.
    """

    name = "length"
    outputs = ("length-words", "length-relative")
    no_direction = frozenset({"length-words", "length-relative"})
    bounds = (0.0, float("inf"))
    summary = "words per caption, and their ratio to the words of references"
    variants = {
        "official": "COCO toolkit: the reference closest in length, the shorter one in a tie",
        "mean": "the mean length of the references",
    }

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Return words of the candidate, words of the references, 1."""
        candidates, references = captions.layer(WordLayer(self.tokenizer))
        candidate_words, lengths, offsets = candidates.lengths, references.lengths, captions.references.offsets
        if self.variant == "mean":
            reference_words = combine_references("mean", lengths, offsets)
        else:
            differences = np.abs(lengths - np.repeat(candidate_words, np.diff(offsets)))
            # The closest, then the shortest: a number in which the length counts less than any difference.
            closest = first_best(-(differences * (lengths.max(initial=0) + 1) + lengths), offsets)
            reference_words = lengths[closest].astype(np.float64)
        return np.stack([candidate_words, reference_words, np.ones(len(captions))], axis=1).astype(np.float64)

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        words, reference_words, captions = np.moveaxis(np.asarray(statistics), -1, 0)
        return np.stack([words / captions, share(words, reference_words)], axis=-1)
