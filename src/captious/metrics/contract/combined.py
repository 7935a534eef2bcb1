"""Metrics made of other metrics: ``Combined``, such as SPIDEr (SPICE and CIDEr-D), and ``OfK``, of several candidates.

``Combined`` runs its parts on each caption, fits their states, and merges their parameters and warnings. Caption scores
are combined; the corpus score is their mean.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, CaptionSets, OfSeveral, References
from captious.data.matching import OF_SEVERAL, ways_of
from captious.errors import ParameterError
from captious.metrics.contract.metric import MeanMetric, Metric, RowScores, Savable, SetMetric, State, add_part
from captious.words import DEFAULT_SEED, shortened


@dataclass(frozen=True)
class CombinedState:
    """The states of several metrics, None for those that have none."""

    states: tuple[State | None, ...]

    def merge(self, other: State) -> CombinedState:
        """Return the states of both sets of references together.

        Raises:
            ParameterError: the states are of other metrics.
        """
        if not isinstance(other, CombinedState) or [s is None for s in self.states] != [
            s is None for s in other.states
        ]:
            raise ParameterError(
                "these states cannot be merged",
                where=f"{self.label} and {shortened(other)}",
                hint="merge states of the same metric",
            )
        pairs = zip(self.states, other.states, strict=True)
        return CombinedState(tuple(a.merge(b) if a is not None and b is not None else None for a, b in pairs))

    @property
    def label(self) -> str:
        """The state in signatures."""
        return "+".join(state.label for state in self.states if state is not None)


class Combined(MeanMetric):
    """Base class of metrics whose caption scores are computed from those of other metrics.

    A subclass implements ``make_parts`` and ``combine``.
    """

    #: The classes of the parts, which say what is missing where they cannot run.
    part_classes: ClassVar[tuple[type[Metric], ...]] = ()

    @abstractmethod
    def make_parts(self) -> Sequence[tuple[Metric, str]]:
        """Return the parts: metrics, and the name of one output of each. A metric may occur several times.

        Called once, by ``setup``.
        """

    @abstractmethod
    def combine(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores of captions from those of the parts: float64[n, n_parts] to float64[n] or float64[n, m]."""

    def setup(self) -> None:
        parts = self.make_parts()
        #: The metrics, each once.
        self.metrics = tuple({id(metric): metric for metric, _ in parts}.values())
        #: For each part, the index of its metric and the index of its output in that metric.
        self.columns = tuple((self.metrics.index(metric), metric.outputs.index(output)) for metric, output in parts)
        self.needs_fit = any(metric.needs_fit for metric in self.metrics)

    @classmethod
    def missing(cls) -> str | None:
        commands = (part.missing() for part in cls.part_classes)
        return next((command for command in commands if command is not None), super().missing())

    @property
    def parameters(self) -> Mapping[str, object]:
        parameters: dict[str, object] = {"variant": self.variant}
        for metric in self.metrics:
            parameters |= {name: value for name, value in metric.parameters.items() if name != "variant"}
        return parameters

    @property
    def tokens(self) -> str:
        return ", ".join(dict.fromkeys(metric.tokens for metric in self.metrics))

    def fit(self, references: References) -> CombinedState | None:
        """Return the states of the parts; None if no part needs one.

        Parts that need no fit, such as those with document frequencies from a file, are left out: merging would count
        these several times.
        """
        states = tuple(metric.fit(references) if metric.needs_fit else None for metric in self.metrics)
        return CombinedState(states) if any(state is not None for state in states) else None

    def fitted_parameters(self, state: State | None) -> Mapping[str, object]:
        parameters: dict[str, object] = {}
        for metric, part_state in self._pair_states(state):
            parameters |= metric.fitted_parameters(part_state)
        return parameters

    def part_scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Return the scores of the parts of each caption, float64[n_captions, n_parts]."""
        return self._select_columns(
            [metric.aggregate(metric.statistics(captions, part)) for metric, part in self._pair_states(state)]
        )

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return self.combine(self.part_scores(captions, state))

    def row_scores(self, references: References, state: State | None) -> RowScores:
        parts = [metric.row_scores(references, part) for metric, part in self._pair_states(state)]

        def scores(rows: NDArray[np.int64], candidates: Sequence[str]) -> NDArray[np.float64]:
            of_parts = self._select_columns([part(rows, candidates) for part in parts])
            return self.combine(of_parts).reshape(len(candidates), len(self.outputs))

        return scores

    def slow(self, captions: Captions) -> str:
        return next(filter(None, (part.slow(captions) for part in self.metrics)), "")

    def warnings(self, captions: Captions, state: State | None) -> Sequence[str]:
        parts = self._pair_states(state)
        return [*dict.fromkeys(warning for metric, part in parts for warning in metric.warnings(captions, part))]

    def reference_warnings(self, references: References, state: State | None) -> Sequence[str]:
        parts = self._pair_states(state)
        return [*dict.fromkeys(text for metric, part in parts for text in metric.reference_warnings(references, part))]

    def fit_resource(self, references: References, *, seed: int = DEFAULT_SEED) -> Savable | None:
        """Return the resource of the only part that is fitted; None if several are, or none."""
        fitted = [part for m in self.metrics if (part := m.fit_resource(references, seed=seed)) is not None]
        return fitted[0] if len(fitted) == 1 else None

    def _select_columns(self, scores: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Select float64[n, n_parts] from float64[n, m] of each metric."""
        return np.stack([scores[metric][..., column] for metric, column in self.columns], axis=-1)

    def _pair_states(self, state: State | None) -> list[tuple[Metric, State | None]]:
        states = state.states if isinstance(state, CombinedState) else (None,) * len(self.metrics)
        return [*zip(self.metrics, states, strict=True)]


# ``OfK``: the mean or the best of a metric of single captions.


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

    def __init__(self, metric: Metric, choice: OfSeveral = "mean") -> None:
        if not isinstance(metric, Metric):
            problem = f"{shortened(metric)} is not a metric of single captions"
            raise ParameterError(problem, hint="give captious.CiderD()")
        (choice,) = ways_of(choice)
        self.metric, self.choice = metric, choice
        self.arguments = {}  # parameters are those of the metric
        if choice not in self.ways(metric, (choice,)):
            raise ParameterError(
                f"no candidate is the best by {metric.name}: neither higher nor lower is better", hint="choose mean"
            )
        self.name, self.outputs = metric.name, metric.outputs
        self.needs_references, self.needs_fit = metric.needs_references, metric.needs_fit
        self.lower_is_better, self.no_direction = metric.lower_is_better, metric.no_direction

    def __repr__(self) -> str:
        return f"OfK({self.metric!r}, {self.choice!r})"

    @staticmethod
    def ways(metric: Metric, ways: Sequence[OfSeveral]) -> Sequence[OfSeveral]:
        """Return the possible ones among these choices: only the mean if no output has a direction."""
        return OF_SEVERAL[:1] if metric.no_direction.issuperset(metric.outputs) else ways

    def suffix(self) -> str:
        return self.metric.suffix() + self.of_k_suffix

    @property
    def of_k_suffix(self) -> str:
        """Suffix of labels; empty for the default."""
        return "" if self.choice == OF_SEVERAL[0] else f":of-k={self.choice}"

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

    def warnings(self, sets: CaptionSets, state: State | None) -> Sequence[str]:
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
