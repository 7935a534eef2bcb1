"""Length: words per caption, and words of candidates divided by words of their references.

Neither longer nor shorter captions are better; these numbers help to interpret other scores.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import Metric, State
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
        candidate_words, offsets = candidates.lengths, captions.references.offsets
        if self.variant == "mean":
            sums = np.add.reduceat(references.lengths, offsets[:-1]) if len(captions) else references.lengths[:0]
            reference_words = sums / np.diff(offsets)
        else:
            lengths = references.lengths.tolist()
            bounds = pairwise(offsets.tolist())
            reference_words = np.array(
                [
                    min(lengths[a:b], key=lambda n: (abs(n - length), n))
                    for length, (a, b) in zip(candidate_words.tolist(), bounds, strict=True)
                ]
            )
        return np.stack([candidate_words, reference_words, np.ones(len(captions))], axis=1).astype(np.float64)

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        words, reference_words, captions = np.moveaxis(np.asarray(statistics), -1, 0)
        ratio = np.divide(words, reference_words, out=np.zeros_like(words), where=reference_words > 0)
        return np.stack([words / captions, ratio], axis=-1)
