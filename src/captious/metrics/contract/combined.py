"""Combined: a metric composed of other metrics, such as SPIDEr (SPICE and CIDEr-D) or SMURF (its three parts).

It runs its parts on each caption, fits their states, and merges their parameters and warnings. Caption scores are
combined; the corpus score is their mean.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.errors import ParameterError
from captious.metrics.contract.metric import MeanMetric, Metric, RowScores, Savable, State
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
