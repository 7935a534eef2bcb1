"""The interface of every metric: a metric is a function of summed statistics.

    fit(references)                 -> state            what must be known before scoring; mergeable, savable
    statistics(captions, state)     -> float64[n, k]    one row per caption, independent of the others
    aggregate(float64[..., k])      -> float64[..., m]  scores from statistics, one per output

    caption scores = aggregate(statistics)      corpus scores = aggregate(statistics.sum(axis=0))

Intervals, paired tests, streaming and distribution follow from this; no metric has to know about them.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, load, read_references
from captious.errors import ParameterError, UnknownNameError
from captious.metrics.contract.scorer import GenericScorer, Scorer, output_of
from captious.metrics.contract.signature import signature
from captious.random_seed import DEFAULT_SEED
from captious.text import Tokenizer, as_tokenizer

__all__ = ["MeanMetric", "Metric", "Savable", "State"]


class State(Protocol):
    """What ``fit`` learns from references. Merging separate counts equals counting all documents together."""

    def merge(self, other: State) -> State:
        """The state of both sets of references together."""
        ...

    @property
    def label(self) -> str:
        """What signatures call it."""
        ...


@runtime_checkable
class Savable(Protocol):
    """An object that can be saved to a file and loaded by its metric."""

    @property
    def contents(self) -> str:
        """What it holds, in a few words."""
        ...

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save to a file.

        Raises:
            OutputError: the file cannot be written.
        """
        ...


class Metric(ABC):
    """Base class of metrics, with fixed parameters.

    A subclass names itself and its outputs, says which variants it has, and implements ``statistics`` and
    ``aggregate``; a metric that must see references first also implements ``fit``.

    Args:
        variant: one of ``variants``. The default is the first: that of the official implementation, if there is one.
        tokenizer: see ``captious.text.as_tokenizer``.

    Raises:
        UnknownNameError: a variant or tokenizer that does not exist.
    """

    #: What the metric is called everywhere.
    name: ClassVar[str]
    #: The numbers it reports, in the order of the last axis of ``aggregate``.
    outputs: ClassVar[tuple[str, ...]]
    #: Its documented ways of computing, the default first: name -> one line.
    variants: ClassVar[Mapping[str, str]] = {"official": "as released"}
    #: One line for listings.
    summary: ClassVar[str] = ""
    #: The models that it loads unless it is given others, by their names on the Hugging Face hub.
    default_models: ClassVar[tuple[str, ...]] = ()
    #: What ``captious fit`` writes for it; empty for a metric that learns nothing from references.
    learns: ClassVar[str] = ""
    #: Whether its scores depend on references.
    needs_references: ClassVar[bool] = True
    #: The outputs of which lower scores are better. For all others, higher scores are better.
    lower_is_better: ClassVar[frozenset[str]] = frozenset()
    #: The outputs of which neither higher nor lower scores are better. Tables mark no best score.
    no_direction: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__ and "outputs" not in cls.__dict__:
            cls.outputs = (cls.name,)

    def __init__(
        self, *, variant: str | None = None, tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = "ptb"
    ) -> None:
        variant = next(iter(self.variants)) if variant is None else variant
        if variant not in self.variants:
            raise UnknownNameError(
                f"{self.name} has no variant {variant!r}", help=f"its variants are {', '.join(self.variants)}"
            )
        self.variant = variant
        self.tokenizer = as_tokenizer(tokenizer)
        self._stream = Stream()

    @classmethod
    def missing(cls) -> str | None:
        """The command that installs what this metric lacks on this machine, or None if it can run."""
        return None

    @property
    def parameters(self) -> Mapping[str, object]:
        """Every parameter that changes a score, in the order in which the signature shows them."""
        return {"variant": self.variant, "tokenizer": self.tokenizer.name}

    @property
    def tokens(self) -> str:
        """A description of its tokens, shown in tables."""
        return self.tokenizer.name

    @property
    def needs_fit(self) -> bool:
        """Whether ``fit`` has to see the references of the whole corpus before captions can be scored."""
        return False

    def signatures(self, state: State | None = None) -> tuple[str, ...]:
        """The signature of each output, given the state that was used."""
        parameters = {**self.parameters, **self.fitted_parameters(state)}
        return tuple(signature(output, parameters) for output in self.outputs)

    def fitted_parameters(self, state: State | None) -> Mapping[str, object]:
        """What signatures show of the state that was used; None for one that is not fitted yet."""
        return {}

    def fit(self, references: References) -> State | None:
        """What must be known about the references of the whole corpus; None for most metrics."""
        return None

    def learn(self, references: References, *, seed: int = DEFAULT_SEED) -> Savable | None:
        """What ``captious fit`` writes to a file for this metric: its state, unless it learns something else.

        Args:
            references: human captions of the whole corpus.
            seed: random seed, for metrics that draw captions.

        Returns:
            None if the metric has nothing to learn from references.
        """
        state = self.fit(references)
        return state if isinstance(state, Savable) else None

    @abstractmethod
    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Sufficient statistics, float64[n_captions, k].

        Args:
            captions: the table.
            state: what ``fit`` returned; if it is None, a metric that needs one is fitted on the references at hand.
        """

    @abstractmethod
    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores from statistics or sums of them: float64[..., k] to float64[..., m], one per output."""

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        """Warnings about misleading scores, one sentence each."""
        return []

    def scorer(self, references: object, output: str | None = None) -> Scorer:
        """A training reward: scores candidates against references that are prepared once.

        Args:
            references: any form that ``captious.data.read_references`` reads.
            output: which of the outputs; None for the one with the metric's name, or else the last.
        """
        table = read_references(references)
        return GenericScorer(self, table, output_of(self, output))

    # ---- streaming, on the same statistics

    def update(self, candidates: object, references: object = None) -> None:
        """Add captions: any form that ``captious.data.load`` reads, or a ``Captions`` object.

        A metric that must be fitted on all references keeps the captions until ``compute``; others keep a sum.
        """
        self._add(candidates if isinstance(candidates, Captions) else load(candidates, references))

    def _add(self, captions: Any) -> None:
        """Add a table of the kind that ``statistics`` takes."""
        if self.needs_fit:
            self._stream.captions.append(captions)
        else:
            self._stream.add(self.statistics(captions))

    def compute(self) -> dict[str, float]:
        """Corpus scores of all captions added so far, by output.

        Raises:
            ParameterError: no captions were added yet.
        """
        stream = self._stream
        if self.needs_fit and stream.captions:
            state: State | None = None
            for captions in stream.captions:
                more = self.fit(captions.references)
                assert more is not None
                state = more if state is None else state.merge(more)
            total = sum(self.statistics(captions, state).sum(axis=0) for captions in stream.captions)
        else:
            total = stream.total
        if total is None:
            raise ParameterError(f"no captions have been added to {self.name}", help="call update() before compute()")
        return dict(zip(self.outputs, self.aggregate(np.asarray(total)).tolist(), strict=True))

    def merge(self, other: Metric) -> None:
        """Add the captions of another metric with the same parameters.

        Raises:
            ParameterError: the other metric computes something else.
        """
        if not isinstance(other, Metric):
            raise ParameterError(f"{other!r:.60} is not a metric", help=f"give another captious.{type(self).__name__}")
        if type(other) is not type(self) or other.signatures() != self.signatures():
            raise ParameterError(
                f"{other.name} cannot be merged into {self.name}",
                where=f"{other.signatures()[0]} into {self.signatures()[0]}",
                help="merge metrics of the same class and parameters",
            )
        self._stream.captions += other._stream.captions
        if other._stream.total is not None:
            self._stream.add(other._stream.total[None])

    def reset(self) -> None:
        """Forget all captions added so far."""
        self._stream = Stream()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(f'{k}={v}' for k, v in self.parameters.items())}>"


class Stream:
    """What ``update`` has taken in: a running sum, or captions that wait for the fit."""

    def __init__(self) -> None:
        self.total: NDArray[np.float64] | None = None
        self.captions: list[Any] = []  # tables of the kind that the metric takes

    def add(self, statistics: NDArray[np.float64]) -> None:
        """Add rows of statistics, float64[n, k], to the sum."""
        more = statistics.sum(axis=0)
        self.total = more if self.total is None else self.total + more


class MeanMetric(Metric):
    """A metric whose corpus score is the mean of its caption scores; its statistics are (scores, 1)."""

    @abstractmethod
    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Caption scores, float64[n] or float64[n, m]."""

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        scores = self.scores(captions, state).reshape(len(captions), len(self.outputs))
        return np.hstack([scores, np.ones((len(captions), 1))])

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        return statistics[..., :-1] / statistics[..., -1:]
