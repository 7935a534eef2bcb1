"""ROUGE-S: skip-bigrams, ordered word pairs with words between them.

Lin 2004, section 5; Chen et al. 2015 (COCO), equations 8 to 10. There is no official code for captions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import IntegerParameter
from captious.metrics.rouge_l import f_measure
from captious.native import skip_bigram_matches, threads
from captious.text import WordLayer


class RougeS(MeanMetric):
    """F-measure of skip-bigrams with the best precision and the best recall over references; 0 to 1."""

    name = "rouge-s"
    summary = "F-measure of skip-bigrams at most 4 apart, beta 1.2"
    variants: ClassVar[Mapping[str, str]] = {"paper": "COCO paper, equations 8 to 10"}
    beta = 1.2

    gap: IntegerParameter[int | None] = IntegerParameter(
        default=4,
        least=1,
        optional=True,
        none="any",
        summary="how far apart the two words may be; none for any distance",
    )

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "beta": self.beta}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(WordLayer(self.tokenizer))
        image_offsets = captions.references.offsets
        starts, counts = image_offsets[:-1], np.diff(image_offsets)
        gap = self.gap if self.gap is not None else 2**62
        matches = skip_bigram_matches(
            candidates.ids, candidates.offsets, references.ids, references.offsets, image_offsets, gap, threads()
        )
        pairs = np.repeat(self._pairs(candidates.lengths), counts)
        precision = np.maximum.reduceat(matches / np.maximum(pairs, 1), starts)
        recall = np.maximum.reduceat(matches / np.maximum(self._pairs(references.lengths), 1), starts)
        return f_measure(precision, recall, self.beta)

    def _pairs(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of skip-bigrams of captions of these lengths."""
        reach = lengths - 1 if self.gap is None else np.minimum(self.gap, lengths - 1)
        return np.asarray(np.maximum(0, reach * lengths - reach * (reach + 1) // 2))
