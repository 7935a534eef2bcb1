"""The penalty of FENSE: the score of a caption is reduced if a classifier finds a fluency error in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError, requesting
from captious.metrics.contract.parameters import NumberParameter, ResourceParameter
from captious.models.sentences import DETECTORS, ErrorDetector, as_error_detector


class DetectorParameter(ResourceParameter[ErrorDetector | str | os.PathLike[str] | None, ErrorDetector]):
    """The error detector, which has no default, as the published one is on no hub."""

    required = True

    def __init__(self, *, default: None = None) -> None:
        super().__init__(default=default, summary="error detector: FENSE's checkpoint file, or a sequence classifier")

    def check(self, metric: Any, value: Any) -> ErrorDetector:
        if value is None:
            raise ParameterError(
                f"{metric.name} needs an error detector",
                hint=f"give a checkpoint of FENSE, such as {DETECTORS}, or a sequence classifier: "
                f"{requesting(f'{metric.name}:detector=FILE')}",
            )
        return as_error_detector(value)


class ThresholdParameter(NumberParameter[float]):
    """The probability above which a caption has an error."""

    def __init__(self, *, default: float = 0.9) -> None:
        super().__init__(default=default, least=0, most=1, summary="probability above which a caption has an error")


class PenaltyParameter(NumberParameter[float]):
    """The share of the score that an error costs."""

    def __init__(self, *, default: float = 0.9) -> None:
        super().__init__(default=default, least=0, most=1, summary="share of the score that an error costs")


def has_error(detector: ErrorDetector, threshold: float, captions: Sequence[str]) -> NDArray[np.float64]:
    """Return 1 for each caption in which the detector finds an error, else 0: float64[n]."""
    return (detector.probabilities(captions) > threshold).astype(np.float64)
