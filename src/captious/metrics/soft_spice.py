"""Soft-SPICE: similarity of the phrases of two scene graphs, by the cosine of sentence vectors.

Li, Chai, Zhuo, Qu, Haffari, Li, Ji and Tran 2023 (FACTUAL). The official variant is the arithmetic of its code, applied
to the tuples of SPICE's rules instead of that code's own parser.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import State
from captious.metrics.shared.arithmetic import f_measure
from captious.metrics.shared.scene_encoder import SceneEncoderMetric
from captious.models.sentences import phrase_vectors
from captious.progress import Progress
from captious.scenes.tuples import Tuple


class SoftSpice(SceneEncoderMetric):
    """Soft-SPICE, higher is better; ``soft-spice-p`` is its precision and ``soft-spice-r`` its recall.

    Precision is the mean, over the phrases of the candidate, of the best cosine with a phrase of any reference; recall
    is the same for the phrases of the references. The official score is the precision alone, -1 to 1; "two-sided" maps
    cosines to 0 to 1 and takes the harmonic mean. A caption without phrases scores 0.

    Raises:
        ResourceError: a model that cannot be read, or that is not a sentence encoder.
    """

    name = "soft-spice"
    english_only = True
    outputs = ("soft-spice", "soft-spice-p", "soft-spice-r")
    bounds = (-1.0, 1.0)
    summary = "phrases of scene graphs, matched by the cosine of sentence vectors"
    variants = {
        "official": "FACTUAL's code: precision, the mean of the best cosines",
        "two-sided": "harmonic mean of precision and recall, of (cosine + 1) / 2",
    }
    default_models = ("sentence-transformers/all-MiniLM-L6-v2",)

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        layer = self.tuples
        candidates = [phrases_of(tuples) for tuples in layer.of_candidates(captions)]
        of_references = layer.of_references(captions.references)
        bounds = pairwise(captions.references.offsets.tolist())
        references = [phrases_of(chain.from_iterable(of_references[start:end])) for start, end in bounds]
        phrases = dict.fromkeys(chain.from_iterable(chain(candidates, references)))
        numbers = {phrase: number for number, phrase in enumerate(phrases)}
        vectors = phrase_vectors(self.encoder, [*numbers], captions.references)
        scores = np.zeros((len(captions), 3))
        with Progress(max(1, len(captions))) as progress:
            for i, (candidate, reference) in enumerate(zip(candidates, references, strict=True)):
                progress.reach(i, "comparing phrases")
                if not candidate or not reference:
                    continue
                cosines = vectors[[numbers[p] for p in candidate]] @ vectors[[numbers[p] for p in reference]].T
                scores[i, 1:] = cosines.max(axis=1).mean(dtype=float), cosines.max(axis=0).mean(dtype=float)
        has_both = scores[:, 1:].any(axis=1)
        if self.variant == "official":
            scores[:, 0] = scores[:, 1]
            return scores
        precision, recall = np.where(has_both, (scores[:, 1:].T + 1) / 2, 0)
        return np.stack([f_measure(precision, recall), precision, recall], axis=1)


def phrases_of(tuples: Iterable[Tuple]) -> tuple[str, ...]:
    """Return the distinct phrases of tuples: objects, "attribute object", "subject relation object"."""
    phrases: dict[str, None] = {}
    for item in tuples:
        if len(item) == 3:
            subject, thing, relation = item
            phrases |= dict.fromkeys((subject, thing, f"{subject} {relation} {thing}"))
        else:
            phrases[item[0]] = None
            if len(item) == 2:
                phrases[f"{item[1]} {item[0]}"] = None
    return tuple(phrases)
