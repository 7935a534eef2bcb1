"""Scorers whose corpus score is the mean of the images' scores."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.compat.pycocoevalcap.harness_input import Texts, captions, is_nothing
from captious.metrics.contract.metric import MeanMetric

__all__ = ["MeanScorer"]


class MeanScorer:
    """A metric under the toolkit's interface."""

    _metric: MeanMetric
    #: Whether no images are an error; if not, their mean is nan.
    _refuses_nothing: ClassVar[bool] = False

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, NDArray[np.float64]]:
        """Score tokenized captions.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.

        Returns:
            The mean, and float64[n_images] in the order of gts.

        Raises:
            InputError: invalid captions; the error names the image.
        """
        if is_nothing(gts, res) and not self._refuses_nothing:
            scores = np.zeros(0)
        else:
            scores = self._metric.scores(captions(gts, res))
        return np.float64(scores.mean()), scores
