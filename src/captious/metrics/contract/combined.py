"""Combined: a metric made of other metrics, such as SPIDEr (SPICE and CIDEr-D) or SMURF (its three parts).

It stacks the statistics of its parts, fits their states, and combines their parameters and warnings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId, References, read_references
from captious.errors import ParameterError
from captious.metrics.contract.metric import Metric, Savable, State
from captious.metrics.contract.scorer import Scorer
from captious.random_seed import DEFAULT_SEED

__all__ = ["Combine", "Combined", "CombinedScorer", "CombinedState"]

#: Scores of the parts, float64[..., n_parts], to scores of the whole, float64[...] or float64[..., m].
Combine: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class CombinedState:
    """The states of several metrics, None for those that have none."""

    states: tuple[State | None, ...]

    def merge(self, other: State) -> CombinedState:
        """The states of both sets of references together.

        Raises:
            ParameterError: the states are of other metrics.
        """
        if not isinstance(other, CombinedState) or [s is None for s in self.states] != [
            s is None for s in other.states
        ]:
            raise ParameterError(
                "these states cannot be merged",
                where=f"{self.label} and {other!r:.60}",
                help="merge states of the same metric",
            )
        pairs = zip(self.states, other.states, strict=True)
        return CombinedState(tuple(a.merge(b) if a is not None and b is not None else None for a, b in pairs))

    @property
    def label(self) -> str:
        """What signatures call it."""
        return "+".join(state.label for state in self.states if state is not None)


class Combined(Metric):
    """A metric whose scores are computed from the scores of other metrics.

    A subclass makes its parts in ``__init__``; the object can also be used as it is.

    Args:
        parts: outputs of metrics: the metric, and the name of one of its outputs. A metric may occur several times.
        combine: maps scores of the parts to scores of the whole; works on the last axis, each caption independently.
        level: "caption" combines the scores of each caption, and the corpus score is the mean; "corpus" combines the
            corpus scores into the corpus score, and the scores of each caption into the caption's.
        variant: one of ``variants``.
    """

    #: The classes of the parts, which say what is missing where they cannot run.
    part_classes: ClassVar[tuple[type[Metric], ...]] = ()

    def __init__(
        self,
        parts: Sequence[tuple[Metric, str]],
        combine: Combine,
        *,
        level: Literal["caption", "corpus"],
        variant: str | None = None,
    ) -> None:
        super().__init__(variant=variant)
        self.level = level
        self._combine = combine
        #: The metrics, each once.
        self.metrics = tuple({id(metric): metric for metric, _ in parts}.values())
        #: For each part, the index of its metric and the index of its output in that metric.
        self.columns = tuple((self.metrics.index(metric), metric.outputs.index(output)) for metric, output in parts)

    @classmethod
    def missing(cls) -> str | None:
        return next((command for part in cls.part_classes if (command := part.missing()) is not None), None)

    @property
    def parameters(self) -> Mapping[str, object]:
        united: dict[str, object] = {"variant": self.variant}
        for metric in self.metrics:
            united |= {name: value for name, value in metric.parameters.items() if name != "variant"}
        return united

    @property
    def tokens(self) -> str:
        return ", ".join(dict.fromkeys(metric.tokens for metric in self.metrics))

    @property
    def needs_fit(self) -> bool:
        return any(metric.needs_fit for metric in self.metrics)

    def fit(self, references: References) -> CombinedState | None:
        """The states of the parts; None if no part needs one.

        A part that was given what it would learn, such as document frequencies, is left out: merging would count these
        several times.
        """
        states = tuple(metric.fit(references) if metric.needs_fit else None for metric in self.metrics)
        return CombinedState(states) if any(state is not None for state in states) else None

    def fitted_parameters(self, state: State | None) -> Mapping[str, object]:
        united: dict[str, object] = {}
        for metric, of_part in zip(self.metrics, self._states(state), strict=True):
            united |= metric.fitted_parameters(of_part)
        return united

    def part_scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Scores of the parts of each caption, float64[n_captions, n_parts]."""
        statistics = [m.statistics(captions, s) for m, s in zip(self.metrics, self._states(state), strict=True)]
        return self._of_parts([m.aggregate(rows) for m, rows in zip(self.metrics, statistics, strict=True)])

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        if self.level == "caption":
            scores = self._combine(self.part_scores(captions, state)).reshape(len(captions), len(self.outputs))
            return np.hstack([scores, np.ones((len(captions), 1))])
        rows = [m.statistics(captions, s) for m, s in zip(self.metrics, self._states(state), strict=True)]
        self._widths = [each.shape[1] for each in rows]
        return np.hstack(rows)

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.level == "caption":
            return statistics[..., :-1] / statistics[..., -1:]
        blocks = np.split(statistics, np.cumsum(self._widths)[:-1], axis=-1)
        combined = self._combine(
            self._of_parts([m.aggregate(block) for m, block in zip(self.metrics, blocks, strict=True)])
        )
        return combined.reshape(*statistics.shape[:-1], len(self.outputs))

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        parts = zip(self.metrics, self._states(state), strict=True)
        return [*dict.fromkeys(warning for metric, s in parts for warning in metric.warnings(captions, s))]

    def learn(self, references: References, *, seed: int = DEFAULT_SEED) -> Savable | None:
        """What the one part that learns anything learns; None if several do, or none."""
        learned = [found for m in self.metrics if (found := m.learn(references, seed=seed)) is not None]
        return learned[0] if len(learned) == 1 else None

    def scorer(self, references: object, output: str | None = None) -> Scorer:
        if self.level == "caption" and len(self.outputs) == 1:
            table = read_references(references)
            return CombinedScorer(self, table)
        return super().scorer(references, output)

    def _of_parts(self, scores: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """float64[..., m] of each metric to float64[..., n_parts]."""
        return np.stack([scores[metric][..., column] for metric, column in self.columns], axis=-1)

    def _states(self, state: State | None) -> tuple[State | None, ...]:
        return state.states if isinstance(state, CombinedState) else (None,) * len(self.metrics)


class CombinedScorer:
    """The scorer of a metric that combines caption scores; made by ``Combined.scorer``."""

    def __init__(self, metric: Combined, references: References) -> None:
        self._metric, self._references = metric, references
        names = [metric.metrics[number].outputs[column] for number, column in metric.columns]
        self._scorers = [
            metric.metrics[number].scorer(references, name)
            for (number, _), name in zip(metric.columns, names, strict=True)
        ]
        self.signature = metric.signatures(metric.fit(references))[0]

    def __reduce__(self) -> tuple[object, ...]:
        return CombinedScorer, (self._metric, self._references)

    def __call__(self, image_ids: Sequence[ImageId], captions: Sequence[str]) -> NDArray[np.float64]:
        """Scores of candidates, float64[n]; see ``Scorer``."""
        scores = np.stack([scorer(image_ids, captions) for scorer in self._scorers], axis=-1)
        return self._metric._combine(scores).reshape(len(captions))
