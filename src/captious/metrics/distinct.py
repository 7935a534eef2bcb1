"""Distinct: the share of an image's candidates that differ from each other.

The share of distinct captions in the whole corpus, which some papers report, is not a mean over images; a report of
several candidates per image includes it in its description (``captious.evaluation.description``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import CaptionSets
from captious.metrics.contract.metric import State
from captious.metrics.contract.set_metrics import SetMeanMetric
from captious.text import WordLayer


class Distinct(SetMeanMetric):
    """Distinct candidates of an image divided by its candidates, above 0 to 1; 1 for a single candidate.

    Captions are equal if their tokens are. The corpus score is the mean over images.

    Statistics (k = 2): the score, and 1.
    """

    name = "distinct"
    summary = "share of distinct captions among an image's candidates"
    variants: ClassVar[Mapping[str, str]] = {"paper": "captions of equal tokens are the same"}
    needs_references = False

    def scores(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        numbers = sets.candidates.layer(WordLayer(self.tokenizer)).equal()
        image_of = np.repeat(np.arange(len(sets)), sets.counts)
        size = len(numbers) + 1
        pairs = np.unique(image_of * size + numbers)
        return np.bincount(pairs // size, minlength=len(sets)) / sets.counts
