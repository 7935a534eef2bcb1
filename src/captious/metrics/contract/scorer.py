"""Scorers: any metric as a training reward, one number per candidate, with references prepared once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId, References
from captious.errors import UnknownNameError
from captious.metrics.contract.image_rows import ImageRows

if TYPE_CHECKING:
    from captious.metrics.contract.metric import Metric

__all__ = ["GenericScorer", "Scorer", "output_of"]


class Scorer(Protocol):
    """Scores captions of images whose references were prepared beforehand. Threads may share it."""

    @property
    def signature(self) -> str:
        """All that the scores depend on besides the captions."""
        ...

    def __call__(self, image_ids: Sequence[ImageId], captions: Sequence[str]) -> NDArray[np.float64]:
        """Scores of candidates, float64[n]; an image may come any number of times.

        They are as the metric gives them: to maximise an output of which lower scores are better, negate them.

        Args:
            image_ids: n ids of images that have references.
            captions: n candidates, one for each id.

        Raises as ``ImageRows.of`` does.
        """
        ...


class GenericScorer:
    """The scorer of a metric that has none of its own: it scores each batch as a table of its own.

    Args:
        metric: the metric.
        references: references of all images of the training set; a metric that has to be fitted is fitted on them.
        output: which of the metric's outputs.
    """

    def __init__(self, metric: Metric, references: References, output: str) -> None:
        self._metric, self._references, self._output = metric, references, output
        self._state = metric.fit(references)
        self._rows = ImageRows(references)
        self._column = metric.outputs.index(output)
        self.signature = metric.signatures(self._state)[self._column]

    def __reduce__(self) -> tuple[object, ...]:
        return GenericScorer, (self._metric, self._references, self._output)

    def __call__(self, image_ids: Sequence[ImageId], captions: Sequence[str]) -> NDArray[np.float64]:
        """Scores of candidates, float64[n]; see ``Scorer``."""
        rows = self._rows.of(image_ids, captions)
        if not len(rows):
            return np.empty(0)
        starts, counts = self._references.offsets[rows], np.diff(self._references.offsets)[rows]
        texts = self._references.texts
        batch = References(
            tuple(range(len(rows))),  # an image may be there twice
            tuple(text for start, n in zip(starts, counts, strict=True) for text in texts[start : start + n]),
            np.concatenate([[0], np.cumsum(counts)]),
            name=self._references.name,
            images=tuple(self._references.images[row] for row in rows.tolist()),
        )
        statistics = self._metric.statistics(Captions(tuple(captions), batch), self._state)
        return self._metric.aggregate(statistics)[:, self._column]


def output_of(metric: Metric, output: str | None) -> str:
    """The output that a scorer gives: the one asked for, the one with the metric's name, or else the last.

    Raises:
        UnknownNameError: the metric has no such output.
    """
    if output is None:
        return metric.name if metric.name in metric.outputs else metric.outputs[-1]
    if output not in metric.outputs:
        raise UnknownNameError(
            f"{metric.name} has no output {output!r}", help=f"its outputs are {', '.join(metric.outputs)}"
        )
    return output
