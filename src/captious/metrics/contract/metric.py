"""The interface of metrics: a function of summed statistics, declared in a class.

    fit(references)                 -> state            values needed before scoring; mergeable, savable
    statistics(captions, state)     -> float64[n, k]    one row per caption, independent of the others
    aggregate(float64[..., k])      -> float64[..., m]  scores from statistics, one per output

    caption scores = aggregate(statistics)      corpus scores = aggregate(statistics.sum(axis=0))

Intervals, paired tests, streaming, rewards and distribution follow from this; metrics need no code for them.
"""

from __future__ import annotations

import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias, dataclass_transform, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.entry_points import did_you_mean
from captious.errors import ParameterError, UnknownNameError
from captious.metrics.contract.parameters import (
    ChoiceParameter,
    FlagParameter,
    IntegerParameter,
    NumberParameter,
    Parameter,
    ResourceParameter,
    TextParameter,
    TokenizerParameter,
)
from captious.metrics.contract.signatures import signature
from captious.phrases import counted
from captious.random_seed import DEFAULT_SEED

#: Scores of candidates, float64[n, m], from the row of each one's image, int64[n], and the n candidates.
RowScores: TypeAlias = Callable[[NDArray[np.int64], Sequence[str]], NDArray[np.float64]]

#: From candidates and their references to one score per candidate, or from one candidate and its references to a score.
ScoreFunction: TypeAlias = Callable[[Any, Any], Any]


_PARAMETER_OF_TYPE: Mapping[type, type[Parameter[Any, Any]]] = {
    bool: FlagParameter,
    float: NumberParameter,
    int: IntegerParameter,
    str: TextParameter,
}


class State(Protocol):
    """The result of ``fit``. Merging separate counts is equivalent to counting all documents together."""

    def merge(self, other: State) -> State:
        """Return the state of both sets of references together."""
        ...

    @property
    def label(self) -> str:
        """The state in signatures."""
        ...


@runtime_checkable
class Savable(Protocol):
    """An object that can be saved to a file and loaded by its metric."""

    @property
    def contents(self) -> str:
        """A short description of the content."""
        ...

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save to a file.

        Raises:
            OutputError: the file cannot be written.
        """
        ...


class _ConstructorSignature:
    """The signature of a constructor as ``inspect`` and ``help`` show it."""

    def __get__(self, instance: object | None, owner: type[Parameterized]) -> inspect.Signature | None:
        if owner.__init__ is not Parameterized.__init__:
            return None
        return inspect.Signature(
            [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=parameter.default)
                for name, parameter in owner.declared.items()
            ]
        )


@dataclass_transform(
    kw_only_default=True,
    field_specifiers=(
        Parameter,
        NumberParameter,
        IntegerParameter,
        FlagParameter,
        ChoiceParameter,
        TextParameter,
        ResourceParameter,
        TokenizerParameter,
    ),
)
class Parameterized:
    """Base class of classes that declare parameters: the constructor takes them by name, in order of declaration."""

    __signature__ = _ConstructorSignature()
    #: The parameters, base classes first: name -> declaration.
    declared: ClassVar[Mapping[str, Parameter[Any, Any]]] = {}
    #: Parameters of base classes that this class does not have.
    without_parameters: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        parameters: dict[str, Parameter[Any, Any]] = {}
        for base in reversed(cls.__mro__):
            parameters |= {name: item for name, item in vars(base).items() if isinstance(item, Parameter)}
        cls.declared = {name: item for name, item in parameters.items() if name not in cls.without_parameters}

    def __init__(self, *positional: Any, **arguments: Any) -> None:
        if positional:
            raise TypeError(f"{type(self).__name__} takes parameters by name: {', '.join(self.declared)}")
        if unknown := next((name for name in arguments if name not in self.declared), None):
            raise no_parameter(type(self), unknown, self.declared)
        #: The arguments that are not the default: name -> value.
        self.arguments = {
            name: arguments[name]
            for name, parameter in self.declared.items()
            if name in arguments and not parameter.is_default(arguments[name])
        }
        for name, parameter in self.declared.items():
            setattr(self, name, arguments.get(name, parameter.default))
        self.setup()
        self.is_complete = True

    def __setattr__(self, name: str, value: object) -> None:
        is_new = name[:1] != "_" and name not in self.__dict__ and not hasattr(type(self), name)
        if is_new and self.__dict__.get("is_complete") and (guess := did_you_mean(name, self.declared)):
            raise AttributeError(f"there is no parameter {name!r}, and parameters cannot be changed: {guess.strip()}")
        super().__setattr__(name, value)

    def setup(self) -> None:
        """Check parameters that depend on each other, and load resources. Called once, by the constructor."""

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{type(self).__name__}({arguments})"


def no_parameter(owner: type[Parameterized], name: str, declared: Iterable[str]) -> UnknownNameError:
    """Return the error for a parameter that a class does not declare; plain attributes of user classes do not count."""
    names = list(declared)
    takes = f"its parameters are {', '.join(names)}" if names else "it has no parameters"
    help = did_you_mean(name, names) + takes
    namespaces = (vars(base) for base in owner.__mro__ if not is_built_in(base))
    value = next((attributes[name] for attributes in namespaces if name in attributes), None)
    kind = _PARAMETER_OF_TYPE.get(type(value))
    if kind is not None and not hasattr(BaseMetric, name) and name != "name":
        help = f"declare it in the class, as in {name} = captious.{kind.__name__}(default={value!r})"
    return UnknownNameError(f"{getattr(owner, 'name', owner.__name__)} has no parameter {name!r}", help=help)


class _Variant(Parameter[str | None, str]):
    """One of the metric's variants; None for the first."""

    def check(self, metric: Any, value: Any) -> str:
        value = next(iter(metric.variants)) if value is None else value
        if value not in metric.variants:
            raise UnknownNameError(
                f"{metric.name} has no variant {value!r}", help=f"its variants are {', '.join(metric.variants)}"
            )
        return str(value)


class MetricTraits:
    """The description of a metric for tables, tests and ranks; separate from the parameters, for type checkers."""

    #: The name of the metric. Set by ``register``, or written in the class.
    name: str
    #: The numbers it reports, in the order of the last axis of ``aggregate``; by default one, with the metric's name.
    outputs: tuple[str, ...]
    #: The outputs where lower scores are better. For all others, higher scores are better.
    lower_is_better: frozenset[str] = frozenset()
    #: The outputs of which neither higher nor lower scores are better. Tables mark no best score.
    no_direction: frozenset[str] = frozenset()
    #: Whether its scores depend on references.
    needs_references: bool = True
    #: Whether ``fit`` has to see the references of the whole corpus before captions can be scored.
    needs_fit: bool = False


class BaseMetric(Parameterized, MetricTraits, ABC):
    """The common base of metrics of captions (``Metric``) and of sets of captions (``SetMetric``).

    Raises:
        UnknownNameError: an unknown variant, tokenizer or parameter.
        ParameterError: a parameter outside its range.
    """

    #: Its documented ways of computing, the default first: name -> one line.
    variants: ClassVar[Mapping[str, str]] = {"official": "as released"}
    #: One line for listings.
    summary: ClassVar[str] = ""
    #: The models that it loads unless it is given others, by their names on the Hugging Face hub.
    default_models: ClassVar[tuple[str, ...]] = ()
    #: The file that ``captious fit`` writes for it, for listings; empty if none.
    fitted_resource: ClassVar[str] = ""
    #: Whether its words, grammar or weights are English, so that scores of other languages mean nothing.
    english_only: ClassVar[bool] = False
    #: The kind of what ``explain`` returns, by which it is drawn; empty where captions cannot be explained.
    explanation: ClassVar[str] = ""

    variant: Parameter[str | None, str] = _Variant(default=None, summary="way of computing")
    tokenizer: TokenizerParameter = TokenizerParameter(default="ptb")

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls) and "outputs" not in vars(cls):
            cls.outputs = (cls.name,)

    @classmethod
    def missing(cls) -> str | None:
        """Return the command that installs missing requirements on this machine, or None if the metric can run."""
        return None

    @property
    def parameters(self) -> Mapping[str, object]:
        """Every parameter that changes a score, as shown in signatures."""
        return {
            parameter.signature_key: parameter.shown(getattr(self, name))
            for name, parameter in self.declared.items()
            if parameter.signature_key
        }

    @property
    def tokens(self) -> str:
        """A description of its tokens, shown in tables."""
        return self.tokenizer.name

    def suffix(self) -> str:
        """Return the suffix of the names of outputs in labels."""
        return self.suffix_of(self.variant, {name: getattr(self, name) for name in self.arguments})

    @classmethod
    def suffix_of(cls, variant: str, values: Mapping[str, object]) -> str:
        """Return the variant (empty: the default) and non-default parameters, as text in order of declaration."""
        parameters = ",".join(
            f"{name}={parameter.to_text(values[name])}"
            for name, parameter in cls.declared.items()
            if name in values and name != "variant" and parameter.in_labels and not parameter.is_default(values[name])
        )
        shown_variant = f"@{variant}" if variant not in ("", next(iter(cls.variants))) else ""
        return shown_variant + (f":{parameters}" if parameters else "")

    def signatures(self, state: State | None = None) -> tuple[str, ...]:
        """Return the signature of each output, given the state that was used."""
        parameters = {**self.parameters, **self.fitted_parameters(state)}
        if not is_built_in(type(self)):  # custom metrics may change without a new name
            from captious.metrics.contract.fingerprint import class_hash

            parameters["class"] = class_hash(type(self))
        return tuple(signature(output, parameters) for output in self.outputs)

    def fitted_parameters(self, state: State | None) -> Mapping[str, object]:
        """Return the part of signatures about the state that was used; None for a state that is not fitted yet."""
        return {}

    def fit(self, references: References) -> State | None:
        """Return the state that depends on the references of the whole corpus; None for most metrics."""
        return None

    def fit_resource(self, references: References, *, seed: int = DEFAULT_SEED) -> Savable | None:
        """Return the resource that ``captious fit`` writes to a file: the state, unless a metric overrides this.

        Args:
            references: human captions of the whole corpus.
            seed: random seed, for metrics that draw captions.

        Returns:
            None if the metric is not fitted to references.
        """
        state = self.fit(references)
        return state if isinstance(state, Savable) else None

    def statistics(self, captions: Any, state: State | None = None) -> NDArray[np.float64]:
        """Return sufficient statistics, float64[n_images, k], of ``Captions``, or of ``CaptionSets`` for a
        ``SetMetric``.
        """
        raise NotImplementedError

    @abstractmethod
    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores from statistics or sums of them: float64[..., k] to float64[..., m], one per output."""

    def warnings(self, captions: Any, state: State | None) -> list[str]:
        """Return warnings about misleading scores, one sentence each."""
        return []


class Metric(BaseMetric):
    """Base class of metrics that score each caption on its own.

    A subclass names itself and its outputs, declares its variants and parameters, and implements ``statistics`` and
    ``aggregate``; a metric that needs a pass over the references first also implements ``fit``.
    """

    @abstractmethod
    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Return sufficient statistics, float64[n_captions, k].

        Args:
            captions: the captions.
            state: the result of ``fit``; if None, a metric that needs one is fitted on the references of the captions.
        """

    def slow(self, captions: Captions) -> str:
        """Return what takes long with these captions, as the end of a sentence; usually empty."""
        return ""

    def row_scores(self, references: References, state: State | None) -> RowScores:
        """Return a function for caption scores of candidates for any of these images, which are prepared once if
        possible.
        """

        def scores(rows: NDArray[np.int64], candidates: Sequence[str]) -> NDArray[np.float64]:
            texts, offsets = references.texts_of(rows)
            images = tuple(references.images[row] for row in rows.tolist())
            repeated = References(tuple(range(len(rows))), texts, offsets, name=references.name, images=images)
            captions = Captions(tuple(candidates), repeated)
            return self.aggregate(self.statistics(captions, state))

        return scores


class MeanMetric(Metric):
    """A metric whose corpus score is the mean of its caption scores; its statistics are (scores, 1)."""

    @abstractmethod
    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Return caption scores, float64[n] or float64[n, m]."""

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        scores = np.asarray(self.scores(captions, state), np.float64)
        n, m = len(captions), len(self.outputs)
        if scores.shape not in ((n, m), (n,) if m == 1 else (n, m)):
            raise ParameterError(
                f"{self.name} gave scores of shape {scores.shape} for {counted(n, 'caption')} and "
                f"{counted(m, 'output')}",
                help="scores() must return float64[n], or float64[n, m] with m outputs",
            )
        return np.hstack([scores.reshape(n, m), np.ones((n, 1))])

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        return statistics[..., :-1] / statistics[..., -1:]


def is_built_in(metric: type) -> bool:
    """Return whether a class is part of this package."""
    return metric.__module__.partition(".")[0] == "captious"
