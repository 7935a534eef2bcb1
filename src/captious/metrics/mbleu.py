"""mBLEU-1 to mBLEU-4: BLEU of each candidate with the other candidates of its image as references.

Shetty et al. 2017 (mBLEU-4); Zhu et al. 2018 call it Self-BLEU. The official variant is `eval_div_stats` of
self-critical.pytorch, the other variant `mBLEU` of DiversityMetrics (Wang and Chan 2019).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import CaptionSets
from captious.data.reading.source import image_list
from captious.errors import ParameterError
from captious.metrics.bleu import Bleu
from captious.metrics.contract.metric import State
from captious.metrics.contract.set_metrics import SetMetric, mean_of_scored
from captious.native import bleu_statistics_within, threads
from captious.phrases import counted_of
from captious.text import NgramLayer

_K = 10  # statistics of BLEU


class MBleu(SetMetric):
    """mBLEU of order 1 to 4, each 0 to 1. It is a similarity: lower is more diverse.

    The score of an image is the mean of the sentence BLEU of its candidates. The official corpus score pools the first
    candidates of all images, the second candidates and so on, and is the mean of their corpus BLEU; all images must
    have the same number of candidates. With the variant "mean" it is the mean over images, and images may have
    different numbers of candidates; those with one have no score.

    Statistics: those of BLEU for each candidate of the image, k = 10 m with m candidates; for "mean" (k = 8) the scores
    of the image and whether it has them, 0 or 1.
    """

    name = "mbleu"
    outputs = ("mbleu-1", "mbleu-2", "mbleu-3", "mbleu-4")
    summary = "BLEU of each candidate against the others of its image"
    variants: ClassVar[Mapping[str, str]] = {
        "official": "self-critical.pytorch: mean of the corpus BLEU of all first candidates, all second ones, ...",
        "mean": "DiversityMetrics: mean of the scores of images",
    }
    needs_references = False
    lower_is_better = frozenset(outputs)

    def statistics(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        counts = sets.counts
        rows = bleu_statistics_within(sets.candidates.layer(NgramLayer(self.tokenizer)), threads())
        if self.variant == "official":
            if len(sets) and (counts[0] < 2 or (counts != counts[0]).any()):
                raise _different(sets)
            return rows.reshape(len(sets), _K * int(counts[0]) if len(sets) else 2 * _K)
        sentences = _BLEU.aggregate(rows)
        has_score = (counts > 1).astype(np.float64)[:, None]
        sums = np.add.reduceat(sentences, sets.candidates.offsets[:-1], axis=0) if len(sets) else sentences
        return np.hstack([sums / np.maximum(counts, 1)[:, None] * has_score, np.repeat(has_score, 4, axis=1)])

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.variant == "official":
            slots = statistics.reshape(*statistics.shape[:-1], statistics.shape[-1] // _K, _K)
            return np.asarray(_BLEU.aggregate(slots).mean(axis=-2))
        return mean_of_scored(statistics)

    def warnings(self, sets: CaptionSets, state: State | None) -> list[str]:
        single = int((sets.counts < 2).sum())
        return [f"{counted_of(single, len(sets), 'image', 'have')} only one candidate and no mbleu."] if single else []


_BLEU = Bleu()


def _different(sets: CaptionSets) -> ParameterError:
    """Return the error for images with different numbers of candidates, or with one."""
    counts = sets.counts
    first = int(counts[0])
    if (counts == first).all():
        return ParameterError(
            "mbleu compares the candidates of an image with each other, and every image has only one",
            where=sets.candidates.name,
            help="give several candidates per image, or leave mbleu out",
        )
    row = int(np.flatnonzero(counts != first)[0])
    where = f"{image_list([sets.ids[0]])} has {first:,}, {image_list([sets.ids[row]])} has {int(counts[row]):,}"
    return ParameterError(
        "mbleu needs the same number of candidates, at least two, for all images",
        where=f"{sets.candidates.name}: {where}",
        help="use mbleu@mean, which does not need that",
    )
