"""``OfK``: a metric of single captions, for several candidates per image: their mean, or the best of them.

The mean of k is the score to expect of a candidate that is picked at random. The best of k, the "oracle" score, is that
of somebody who picks the best candidate of each image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, CaptionSets, References
from captious.errors import ParameterError, UnknownNameError
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.set_metric import SetMetric

__all__ = ["CHOICES", "Choice", "OfK", "as_choices", "candidate_statistics", "choices_for"]

Choice: TypeAlias = Literal["mean", "best"]

#: Ways to make one score per image, the default first.
CHOICES: tuple[Choice, ...] = get_args(Choice)


class OfK(SetMetric):
    """A metric of single captions, applied to all candidates of an image.

    With "mean", the statistics of an image are the mean of those of its candidates. The score of an image is that of
    the mean statistics, which is the mean score for every metric that averages caption scores. For metrics that pool
    counts, such as BLEU and METEOR, it is the score of the pooled candidates of the image, and the corpus score that
    of all candidates, weighted so that each image counts the same.

    With "best", the statistics of an image are those of its best candidate, chosen by each output for itself: the
    candidate whose own score is the best, the first of equals. The corpus score is that of the chosen candidates under
    the metric's own formula. Of an output without direction, the highest score counts as the best. Scores of captions
    that are not there (nan) are never chosen if there is another.

    Args:
        metric: the metric.
        choice: "mean" or "best".

    Raises:
        UnknownNameError: no such choice.
        ParameterError: the metric judges sets itself; the best by a metric without direction.
    """

    def __init__(self, metric: Metric, choice: Choice = "mean") -> None:
        if not isinstance(metric, Metric) or isinstance(metric, SetMetric):
            raise ParameterError(f"{metric!r:.60} is not a metric of single captions", help="give captious.CiderD()")
        if choice not in CHOICES:
            raise UnknownNameError(f"there is no score of k {choice!r}", help=f"choose {' or '.join(CHOICES)}")
        if choice not in choices_for(metric, (choice,)):
            raise ParameterError(
                f"no candidate is the best by {metric.name}: neither higher nor lower is better", help="choose mean"
            )
        self.metric, self.choice = metric, choice
        # What is said of classes of metrics is here said of an object.
        self.__dict__ |= {name: getattr(metric, name) for name in _OF_CLASSES}
        self.variant, self.tokenizer = metric.variant, metric.tokenizer
        self.reset()

    @property
    def suffix(self) -> str:
        """What labels add to the names of outputs."""
        return "" if self.choice == CHOICES[0] else f":of-k={self.choice}"

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**self.metric.parameters, "of-k": self.choice}

    @property
    def tokens(self) -> str:
        return self.metric.tokens

    @property
    def needs_fit(self) -> bool:
        return self.metric.needs_fit

    def fit(self, references: References) -> State | None:
        return self.metric.fit(references)

    def signatures(self, state: State | None = None) -> tuple[str, ...]:
        parts = (signature.rpartition("|") for signature in self.metric.signatures(state))
        return tuple(f"{parameters}|of-k:{self.choice}|{version}" for parameters, _, version in parts)

    def warnings(self, captions: Captions | CaptionSets, state: State | None) -> list[str]:
        assert isinstance(captions, CaptionSets)
        slots = captions.slots
        return [*dict.fromkeys(warning for slot in slots for warning in self.metric.warnings(slot.captions, state))]

    def set_statistics(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        return self.of_candidates(candidate_statistics(self.metric, sets, state), sets.candidates.offsets)

    def of_candidates(self, rows: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Statistics of images from those of candidates.

        Args:
            rows: float64[n_candidates, k].
            offsets: int64[n_images + 1]; image i has the candidates ``rows[offsets[i]:offsets[i + 1]]``.

        Returns:
            float64[n_images, k] for the mean; float64[n_images, m * k] for the best, a block of k for each output.
        """
        starts, counts = offsets[:-1], np.diff(offsets)
        if not len(starts):
            return np.zeros((0, rows.shape[1] * (len(self.outputs) if self.choice == "best" else 1)))
        if self.choice == "mean":
            return np.add.reduceat(rows, starts, axis=0) / counts[:, None]
        upwards = [-1.0 if output in self.metric.lower_is_better else 1.0 for output in self.outputs]
        scores = np.nan_to_num(self.metric.aggregate(rows) * upwards, nan=-np.inf)
        best = np.repeat(np.maximum.reduceat(scores, starts, axis=0), counts, axis=0)
        first = np.where(scores == best, np.arange(len(rows))[:, None], len(rows))
        chosen = np.minimum.reduceat(first, starts, axis=0)  # int64[n_images, m]
        return rows[chosen].reshape(len(starts), -1)

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.choice == "mean":
            return self.metric.aggregate(statistics)
        m = len(self.outputs)
        blocks = statistics.reshape(*statistics.shape[:-1], m, statistics.shape[-1] // m)
        return np.ascontiguousarray(np.diagonal(self.metric.aggregate(blocks), axis1=-2, axis2=-1))


#: Attributes of metric classes that are those of the metric within.
_OF_CLASSES = (
    *("name", "outputs", "variants", "summary", "default_models", "needs_references"),
    *("lower_is_better", "no_direction"),
)


def candidate_statistics(metric: Metric, sets: CaptionSets, state: State | None) -> NDArray[np.float64]:
    """Statistics of every candidate, float64[n_candidates, k], in their order."""
    found: NDArray[np.float64] | None = None
    for slot in sets.slots:
        rows = metric.statistics(slot.captions, state)[slot.rows]
        if found is None:
            found = np.empty((len(sets.candidates.texts), rows.shape[1]))
        found[slot.candidates] = rows
    return metric.statistics(Captions((), sets.references), state) if found is None else found


def choices_for(metric: Metric, of_k: Sequence[Choice]) -> Sequence[Choice]:
    """The ways that a metric can make one score per image: only the mean if none of its outputs has a direction."""
    return CHOICES[:1] if metric.no_direction.issuperset(metric.outputs) else of_k


def as_choices(of_k: Choice | Sequence[Choice]) -> tuple[Choice, ...]:
    """Ways to make one score per image, each once, the default first.

    Raises:
        UnknownNameError: no such way.
        ParameterError: none is given.
    """
    given = (of_k,) if isinstance(of_k, str) else tuple(of_k)
    if not given:
        raise ParameterError("no score of k was requested", help=f"choose {' or '.join(CHOICES)}")
    for choice in given:
        if choice not in CHOICES:
            raise UnknownNameError(f"there is no score of k {choice!r}", help=f"choose {' or '.join(CHOICES)}")
    return tuple(choice for choice in CHOICES if choice in given)
