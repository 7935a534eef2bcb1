"""Metrics of several candidates per image: of the whole set, or the mean or best of a metric of single captions.

The algebra is that of every metric; a row of statistics is that of an image with all its candidates.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, CaptionSets, References
from captious.errors import ParameterError, UnknownNameError, option
from captious.metrics.contract.metric import BaseMetric, Metric, State
from captious.metrics.contract.signatures import add_part
from captious.phrases import counted_of

OfKChoice: TypeAlias = Literal["mean", "best"]
#: Ways to make one score per image of those of its candidates, the default first.
OF_K: tuple[OfKChoice, ...] = get_args(OfKChoice)


class SetMetric(BaseMetric):
    """Base class of metrics that score all candidates of an image together.

    A subclass implements ``statistics``. The table includes references, whether or not the metric uses them.
    """

    @abstractmethod
    def statistics(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        """Return sufficient statistics, float64[n_images, k].

        Args:
            sets: the table, one row per image.
            state: as for ``Metric.statistics``.
        """


class SetMeanMetric(SetMetric):
    """A metric whose corpus score is the mean of the images that have a score.

    Its statistics are the scores, or 0 if there is none, and for each output whether there is one, 0 or 1.
    """

    #: Whether an image needs two candidates for a score.
    needs_two: ClassVar[bool] = False

    @abstractmethod
    def scores(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        """Return scores of images, float64[n_images] or float64[n_images, m]; nan for an image without one."""

    def statistics(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        scores = self.scores(sets, state).reshape(len(sets), len(self.outputs))
        has_score = ~np.isnan(scores)
        return np.hstack([np.where(has_score, scores, 0.0), has_score.astype(np.float64)])

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        return mean_of_scored(statistics)

    def warnings(self, sets: CaptionSets, state: State | None) -> list[str]:
        """Return a warning with the number of images without a score, which have fewer than two candidates."""
        if not self.needs_two or not (single := int((sets.counts < 2).sum())):
            return []
        images = f"{counted_of(single, len(sets), 'image', 'have')} only one candidate"
        return [f"{images}, and no score in {self.name}, which compares the candidates of an image."]


def mean_of_scored(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sums of scores divided by their number, nan if there are none: float64[..., 2 m] to float64[..., m]."""
    m = statistics.shape[-1] // 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(statistics[..., :m] / statistics[..., m:])


class OfK(SetMetric):
    """A metric of captions, applied to all candidates of an image: their mean, or the best of them.

    With "mean", the statistics of an image are the mean of those of its candidates. The score of an image is that of
    the mean statistics, which is the mean score for every metric that averages caption scores. For metrics that pool
    counts, such as BLEU and METEOR, it is the score of the pooled candidates of the image, and the corpus score that of
    all candidates, weighted so that each image counts the same. It is the expected score of a randomly chosen
    candidate.

    With "best" (the "oracle" score), the statistics of an image are those of its best candidate, chosen separately for
    each output: the candidate with the best score, the first in a tie. The corpus score is that of the chosen
    candidates under the metric's own formula. For an output without direction, the highest score counts as the best.
    Captions without a score (nan) are never chosen if there is another.

    Args:
        metric: the metric.
        choice: "mean" or "best".

    Raises:
        UnknownNameError: an unknown choice.
        ParameterError: the metric scores sets itself, or "best" with a metric without direction.
    """

    def __init__(self, metric: Metric, choice: OfKChoice = "mean") -> None:
        if not isinstance(metric, Metric):
            raise ParameterError(f"{metric!r:.60} is not a metric of single captions", help="give captious.CiderD()")
        check_of_k(choice)
        self.metric, self.choice = metric, choice
        self.arguments = {}  # parameters are those of the metric
        if choice not in self.ways(metric, (choice,)):
            raise ParameterError(
                f"no candidate is the best by {metric.name}: neither higher nor lower is better", help="choose mean"
            )
        self.name, self.outputs = metric.name, metric.outputs
        self.needs_references, self.needs_fit = metric.needs_references, metric.needs_fit
        self.lower_is_better, self.no_direction = metric.lower_is_better, metric.no_direction

    def __repr__(self) -> str:
        return f"OfK({self.metric!r}, {self.choice!r})"

    @staticmethod
    def ways(metric: Metric, of_k: Sequence[OfKChoice]) -> Sequence[OfKChoice]:
        """Return the possible ones among these choices: only the mean if no output has a direction."""
        return OF_K[:1] if metric.no_direction.issuperset(metric.outputs) else of_k

    def suffix(self) -> str:
        return self.metric.suffix() + self.of_k_suffix

    @property
    def of_k_suffix(self) -> str:
        """Suffix of labels; empty for the default."""
        return "" if self.choice == OF_K[0] else f":of-k={self.choice}"

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**self.metric.parameters, "of-k": self.choice}

    @property
    def tokens(self) -> str:
        return self.metric.tokens

    def fit(self, references: References) -> State | None:
        return self.metric.fit(references)

    def signatures(self, state: State | None = None) -> tuple[str, ...]:
        return add_part(self.metric.signatures(state), f"of-k:{self.choice}")

    def warnings(self, sets: CaptionSets, state: State | None) -> list[str]:
        warnings = (self.metric.warnings(slot.captions, state) for slot in sets.slots)
        return [*dict.fromkeys(warning for of_slot in warnings for warning in of_slot)]

    def statistics(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        return self.of_candidates(self.candidate_statistics(self.metric, sets, state), sets.candidates.offsets)

    @staticmethod
    def candidate_statistics(metric: Metric, sets: CaptionSets, state: State | None) -> NDArray[np.float64]:
        """Return statistics of every candidate, float64[n_candidates, k], in their order."""
        if not sets.slots:
            return metric.statistics(Captions((), sets.references), state)
        of_slots = [metric.statistics(slot.captions, state)[slot.rows] for slot in sets.slots]
        statistics = np.empty((len(sets.candidates.texts), of_slots[0].shape[1]))
        for slot, rows in zip(sets.slots, of_slots, strict=True):
            statistics[slot.candidates] = rows
        return statistics

    def of_candidates(self, rows: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return statistics of images from those of candidates.

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
        upwards = [-1.0 if output in self.lower_is_better else 1.0 for output in self.outputs]
        scores = np.nan_to_num(self.metric.aggregate(rows) * upwards, nan=-np.inf)
        best = np.repeat(np.maximum.reduceat(scores, starts, axis=0), counts, axis=0)
        first = np.where(scores == best, np.arange(len(rows))[:, None], len(rows))
        best_rows = np.minimum.reduceat(first, starts, axis=0)  # int64[n_images, m]
        return rows[best_rows].reshape(len(starts), -1)

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.choice == "mean":
            return self.metric.aggregate(statistics)
        m = len(self.outputs)
        blocks = statistics.reshape(*statistics.shape[:-1], m, statistics.shape[-1] // m)
        return np.ascontiguousarray(np.diagonal(self.metric.aggregate(blocks), axis1=-2, axis2=-1))


def check_of_k(of_k: OfKChoice | Sequence[OfKChoice], *, several: bool = True) -> tuple[OfKChoice, ...]:
    """Check ways to compute one score per image; returns each once, the default first.

    Args:
        of_k: one or several ways.
        several: whether images have several candidates.

    Raises:
        UnknownNameError: an unknown way.
        ParameterError: none, or another than the default if images have one candidate.
    """
    ways = (of_k,) if isinstance(of_k, str) else tuple(of_k)
    if not ways:
        raise ParameterError("of_k is empty", help=f"choose {' or '.join(OF_K)}")
    for way in ways:
        if way not in OF_K:
            raise UnknownNameError(
                f"of_k must be {' or '.join(map(repr, OF_K))}, not {way!r}", help="leave it out for the mean"
            )
    choices = tuple(way for way in OF_K if way in ways)
    if choices != OF_K[:1] and not several:
        raise ParameterError(
            f"{option('of_k', choices[-1])} needs several candidates per image", help=f"give {option('several')}"
        )
    return choices


def needs_several_error(name: str) -> ParameterError:
    """Return the error for a metric of sets if images have one candidate."""
    return ParameterError(
        f"{name} judges several candidates per image together",
        help=f"give several per image to captious score or compare: {option('several')}",
    )
