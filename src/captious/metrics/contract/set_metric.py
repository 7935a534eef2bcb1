"""Metrics of sets: what all candidates of an image are together, such as how much they differ.

The algebra is that of every metric; a row of statistics is that of an image with all its candidates.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, CaptionSets, load
from captious.data.source import SEVERAL
from captious.errors import ParameterError
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.scorer import Scorer

__all__ = ["SetMeanMetric", "SetMetric", "one_caption_each"]


class SetMetric(Metric):
    """Base class of metrics that judge all candidates of an image together.

    A subclass implements ``set_statistics`` in place of ``statistics``. The references belong to the table, whether or
    not the metric looks at them.
    """

    @abstractmethod
    def set_statistics(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        """Sufficient statistics, float64[n_images, k].

        Args:
            sets: the table, one row per image.
            state: as for ``Metric.statistics``.
        """

    def statistics(self, captions: Captions | CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        """``set_statistics``.

        Raises:
            ParameterError: a table of one candidate per image.
        """
        if isinstance(captions, Captions):
            raise one_caption_each(self.name)
        return self.set_statistics(captions, state)

    def warnings(self, captions: Captions | CaptionSets, state: State | None) -> list[str]:
        """As for every metric; of ``CaptionSets``."""
        return []

    def update(self, candidates: object, references: object = None) -> None:
        """Add captions: any form that ``captious.load`` reads with ``several=True``, or ``CaptionSets``."""
        self._add(candidates if isinstance(candidates, CaptionSets) else load(candidates, references, several=True))

    def scorer(self, references: object, output: str | None = None) -> Scorer:
        """Set metrics do not score single captions.

        Raises:
            ParameterError: always.
        """
        raise one_caption_each(self.name)


class SetMeanMetric(SetMetric):
    """A metric whose corpus score is the mean of the images that have a score.

    Its statistics are the scores, 0 where there is none, and for each output whether there is one, 0 or 1.
    """

    #: Whether an image needs two candidates for a score.
    needs_two: ClassVar[bool] = False

    @abstractmethod
    def scores(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        """Scores of images, float64[n_images] or float64[n_images, m]; nan for an image that has none."""

    def set_statistics(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        scores = self.scores(sets, state).reshape(len(sets), len(self.outputs))
        there = ~np.isnan(scores)
        return np.hstack([np.where(there, scores, 0.0), there.astype(np.float64)])

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        m = len(self.outputs)
        with np.errstate(divide="ignore", invalid="ignore"):
            return statistics[..., :m] / statistics[..., m:]

    def warnings(self, captions: Captions | CaptionSets, state: State | None) -> list[str]:
        """How many images have no score because they have fewer than two candidates."""
        assert isinstance(captions, CaptionSets)
        if not self.needs_two or not (single := int((captions.counts < 2).sum())):
            return []
        images = f"{single:,} of {len(captions):,} images have only one candidate"
        return [f"{images}: they have no score in {self.name}, which compares the candidates of an image."]


def one_caption_each(name: str) -> ParameterError:
    """The error for a table of one candidate per image."""
    return ParameterError(
        f"{name} judges several candidates per image together",
        help=f"give several per image to captious score or compare: {SEVERAL}",
    )
