"""What the toolkit's scorers share: their name, and ``compute_score`` where a corpus scores the mean of its images."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.compat.pycocoevalcap.harness_input import Texts, is_nothing

__all__ = ["MeanScorer", "Scorer"]


class Scorer:
    """A metric under the toolkit's interface."""

    _name: ClassVar[str]

    def method(self) -> str:
        """What the toolkit calls this scorer."""
        return self._name


class MeanScorer(Scorer):
    """A scorer whose corpus score is the mean of the images' scores."""

    #: Whether a corpus without images is an error; if not, its score is nan.
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
        nothing = is_nothing(gts, res) and not self._refuses_nothing
        scores = np.zeros(0) if nothing else self._scores(gts, res)
        return np.float64(scores.mean()), scores

    def _scores(self, gts: Texts, res: Texts) -> NDArray[np.float64]:
        raise NotImplementedError
