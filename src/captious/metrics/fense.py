"""FENSE: similarity of sentence vectors, reduced if the candidate has a fluency error.

Zhou, Zhang, Xie, Xu and Zhu 2022, "Can audio captions be evaluated with image caption metrics?". The official variant
is the code of its authors, as aac-metrics runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import State
from captious.metrics.sbert import Sbert
from captious.metrics.shared.fluency_errors import DetectorParameter, PenaltyParameter, ThresholdParameter, has_error


class Fense(Sbert):
    """FENSE, -1 to 1, higher is better: ``sbert``, reduced to a tenth by an error. The corpus score is the mean.

    ``fense-error`` is the share of candidates with an error.

    Raises:
        ParameterError: no error detector.
        ResourceError: a model or detector that cannot be read.
    """

    name = "fense"
    outputs = ("fense", "fense-error")
    lower_is_better = frozenset({"fense-error"})
    summary = "cosine of sentence vectors, cut where the candidate has a fluency error"
    variants: ClassVar[Mapping[str, str]] = {"official": "FENSE's code: mean over references, errors of its detector"}

    detector: DetectorParameter = DetectorParameter()
    threshold: ThresholdParameter = ThresholdParameter()
    penalty: PenaltyParameter = PenaltyParameter()

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        errors = has_error(self.detector, self.threshold, captions.candidates)
        return np.stack([self.cosines(captions)[:, 0] * (1 - self.penalty * errors), errors], axis=1)
