"""The interface of metrics: a function of summed statistics, declared in a class.

    fit(references)                 -> state            values needed before scoring; mergeable, savable
    statistics(captions, state)     -> float64[n, k]    one row per caption, independent of the others
    aggregate(float64[..., k])      -> float64[..., m]  scores from statistics, one per output

    caption scores = aggregate(statistics)      corpus scores = aggregate(statistics.sum(axis=0))

Intervals, paired tests, streaming, rewards and distribution follow from this; metrics need no code for them.
"""

from __future__ import annotations

import inspect
import math
import operator
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Protocol, TypeAlias, dataclass_transform, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from captious.data import (
    Candidates,
    Captions,
    CaptionSets,
    ImageId,
    References,
    ReferencesLike,
    read_captions,
)
from captious.data.ids import ByImage
from captious.errors import EmptyInputError, ParameterError, UnknownNameError, option
from captious.metrics.contract.parameters import (
    ChoiceParameter,
    FlagParameter,
    IntegerParameter,
    NumberParameter,
    Parameter,
    ResourceParameter,
    TextParameter,
    TokenizerParameter,
    exact,
)
from captious.metrics.contract.user_code import class_hash, is_built_in, running
from captious.plugins import answers_other_keywords, did_you_mean
from captious.statistics import DEFAULT_RESAMPLES, Sampling, bootstrap_sums, column_sums, exchange_sums
from captious.version import __version__
from captious.words import DEFAULT_SEED, counted, counted_of, shortened

# Signatures: one line with everything that a score depends on besides the captions.


def signature(name: str, parameters: Mapping[str, object]) -> str:
    """Return one line with everything that a score depends on besides the captions, package version last.

        cider-d|variant:official|tokenizer:ptb|sigma:6|idf:references-5000|captious:0.1.0

    Scores are comparable only if their signatures are equal.
    """
    parts = [f"{key}:{_signature_text(value)}" for key, value in parameters.items()]
    return "|".join([name, *parts, f"captious:{__version__}"])


def add_part(signatures: Iterable[str], part: str) -> tuple[str, ...]:
    """Add a part, such as ``references:5``, to signatures before the package version."""
    return tuple([f"|{part}|".join(signature.rsplit("|", 1)) for signature in signatures])


def _signature_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return exact(value) if isinstance(value, float) else str(value)


# Metrics of one candidate per image: states, parameters, variants and the base classes.

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

    #: The constructor as ``inspect`` and ``help`` show it; None for one of the class's own.
    __signature__: ClassVar[inspect.Signature | None] = None
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
        keywords = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=parameter.default)
            for name, parameter in cls.declared.items()
        ]
        cls.__signature__ = inspect.Signature(keywords) if cls.__init__ is Parameterized.__init__ else None

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
        if self.__dict__.get("is_complete") and name[:1] != "_":
            is_new = name not in self.__dict__ and not hasattr(type(self), name)
            if is_new and (guess := did_you_mean(name, self.declared)):
                problem = f"there is no parameter {name!r}, and parameters cannot be changed"
                raise AttributeError(f"{problem}: {guess.strip()}")
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
    return UnknownNameError(f"{getattr(owner, 'name', owner.__name__)} has no parameter {name!r}", hint=help)


class _Variant(Parameter[str | None, str]):
    """One of the metric's variants; None for the first."""

    def check(self, metric: Any, value: Any) -> str:
        value = next(iter(metric.variants)) if value is None else value
        if value not in metric.variants:
            raise UnknownNameError(
                f"{metric.name} has no variant {value!r}", hint=f"its variants are {', '.join(metric.variants)}"
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
    #: The variant that rewards use if none is chosen; "" for the default.
    reward_variant: ClassVar[str] = ""
    #: One line for listings.
    summary: ClassVar[str] = ""
    #: The models that it loads unless it is given others, by their names on the Hugging Face hub.
    default_models: ClassVar[tuple[str, ...]] = ()
    #: The file that ``captious fit`` writes for it, for listings; empty if none.
    fitted_resource: ClassVar[str] = ""
    #: Whether its words, grammar or weights are English, so that scores of other languages mean nothing.
    english_only: ClassVar[bool] = False
    #: The lowest and the highest score of its outputs.
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    #: The kind of what ``explain`` returns, by which it is drawn; empty where captions cannot be explained.
    explanation: ClassVar[str] = ""
    #: What it needs besides this package: functions that return the command which installs it, None if it is here.
    _requirements: ClassVar[tuple[Callable[[], str | None], ...]] = ()

    variant: Parameter[str | None, str] = _Variant(default=None, summary="way of computing")
    tokenizer: TokenizerParameter = TokenizerParameter(default="ptb")

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls) and "outputs" not in vars(cls):
            cls.outputs = (cls.name,)

    @classmethod
    def missing(cls) -> str | None:
        """Return the command that installs missing requirements on this machine, or None if the metric can run."""
        return next((command for missing in cls._requirements if (command := missing()) is not None), None)

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
        return self.tokenizer.name if "tokenizer" in self.declared else "its own"

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
            parameters["class"] = class_hash(type(self))
        about = signature("", parameters)
        return tuple([output + about for output in self.outputs])

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

    def warnings(self, captions: Any, state: State | None) -> Sequence[str]:
        """Return warnings about misleading scores, one sentence each: text, or ``captious.errors.CaptionWarning``."""
        return []

    def reference_warnings(self, references: References, state: State | None) -> Sequence[str]:
        """Return the warnings that hold whatever the candidates are, for rewards; ``warnings`` has them, too."""
        return []

    @answers_other_keywords
    def score(self, candidates: Candidates, references: ReferencesLike | None = None, *, output: str = "") -> Result:
        """Score captions by this metric alone; ``captious.score`` also warns of what may mislead.

        Args:
            candidates, references: as for ``captious.score``; several candidates per image for a ``SetMetric``.
            output: one of its outputs; by default the only one, or the one with the metric's name.

        Raises:
            InputError: invalid captions, or none.
            ParameterError: several outputs, and none was named; no references.
            UnknownNameError: there is no such output.

        >>> from captious.metrics.rouge import RougeL
        >>> float(RougeL().score(["a dog"], [["a dog"]]))
        1.0
        """
        captions = read_captions(candidates, references, several="mean" if isinstance(self, SetMetric) else None)
        named = output or (self.name if self.name in self.outputs else self.outputs[0])
        if named not in self.outputs:
            raise UnknownNameError(f"{self.name} has no output {named!r}", hint=f"give {' or '.join(self.outputs)}")
        if not output and named != self.name and len(self.outputs) > 1:
            names = " or ".join(f'output="{one}"' for one in self.outputs)
            raise ParameterError(f"{self.name} has {len(self.outputs)} outputs", hint=f"give {names}")
        if not len(captions):
            raise EmptyInputError("there are no captions", hint="give the captions of at least one image")
        if self.needs_references and not captions.references.present:
            raise ParameterError(f"{self.name} cannot be computed without references", hint="give references")
        state = self.fit(captions.references)
        statistics = Statistics(self, statistics_of(self, captions, state), captions.ids)
        signatures = run_signatures(self, state, reference_counts(captions.references), captions.clean)
        column = self.outputs.index(named)
        return Result(named + self.suffix(), signatures[column], statistics, column)


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
            return self.aggregate(statistics_of(self, captions, state))

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
                hint="scores() must return float64[n], or float64[n, m] with m outputs",
            )
        return np.hstack([scores.reshape(n, m), np.ones((n, 1))])

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        return statistics[..., :-1] / statistics[..., -1:]


_LABEL = re.compile(r"[a-z0-9][a-z0-9.-]*")


def check_label(label: str) -> None:
    """Check the name of a metric or an output.

    Raises:
        ParameterError: it could not be requested, or would make signatures ambiguous.
    """
    if not _LABEL.fullmatch(label) or label == "all":
        better = re.sub("[^a-z0-9.]+", "-", label.lower()).strip("-.")
        raise ParameterError(
            f"{shortened(label)} cannot name a metric or an output",
            hint='use lower-case letters, digits, dots and hyphens; "all" stands for every metric'
            + f", such as {better}" * (better not in ("", "all")),
        )


# Metrics of several candidates per image together.
#
# The algebra is that of every metric; a row of statistics is that of an image with all its candidates.


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
        return scored(self.scores(sets, state).reshape(len(sets), len(self.outputs)))

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        return mean_of_scored(statistics)

    def warnings(self, sets: CaptionSets, state: State | None) -> Sequence[str]:
        """Return a warning with the number of images without a score, which have fewer than two candidates."""
        if not self.needs_two or not (single := int((sets.counts < 2).sum())):
            return []
        images = f"{counted_of(single, len(sets), 'image', 'have')} only one candidate"
        return [f"{images}, and no score in {self.name}, which compares the candidates of an image."]


def scored(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores, or 0 for nan, and whether there is one, 0 or 1: float64[n, m] to float64[n, 2 m]."""
    has_score = ~np.isnan(scores)
    return np.hstack([np.where(has_score, scores, 0.0), has_score.astype(np.float64)])


def mean_of_scored(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sums of scores divided by their number, nan if there are none: float64[..., 2 m] to float64[..., m]."""
    m = statistics.shape[-1] // 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(statistics[..., :m] / statistics[..., m:])


def statistics_of(
    metric: BaseMetric, captions: Captions | CaptionSets, state: State | None = None
) -> NDArray[np.float64]:
    """Return the statistics of a metric, checked if it is not of this package: float64[n_images, k].

    Raises:
        ParameterError: its code failed, or it breaks a rule: statistics have a row for each image and are finite, and
            ``aggregate`` gives a score for each output.
    """
    if is_built_in(type(metric)):
        return metric.statistics(captions, state)
    name, where = metric.name, f"{type(metric).__module__}.{type(metric).__qualname__}"

    def result_of(call: Callable[..., NDArray[np.float64]], *arguments: Any) -> NDArray[np.float64]:
        with running(f"{name} failed", lambda: where), np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(call(*arguments), np.float64)

    rows, n, m = result_of(metric.statistics, captions, state), len(captions), len(metric.outputs)
    if rows.ndim != 2 or len(rows) != n:
        raise ParameterError(
            f"{name} gave statistics of the shape {rows.shape} for {counted(n, 'image')}",
            where=where,
            hint="statistics() must return float64[n, k], a row for each image",
        )
    infinite = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if infinite.size:
        first = infinite[0]
        raise ParameterError(
            f"{name} gave {counted_of(infinite.size, n, 'image')} a number that is not finite",
            where=f"{where}: {rows[first].tolist()} for image_id {shortened(captions.ids[first])}",
            hint="return finite numbers for every image, such as 0 for an empty caption",
        )
    for statistics, shape in ((rows.view(), (n, m)), (rows.sum(axis=0), (m,))):
        statistics.flags.writeable = False
        if (made := result_of(metric.aggregate, statistics).shape) != shape:
            raise ParameterError(
                f"{name} made scores of the shape {made} from statistics of the shape {statistics.shape}",
                where=where,
                hint=f"aggregate() must return float64[..., {m}], the last axis for {counted(m, 'output')}, from "
                "float64[..., k]",
            )
    return rows


def needs_several_error(name: str, always_one: str = "") -> ParameterError:
    """Return the error for a metric of sets if images have one candidate.

    Args:
        name: the metric.
        always_one: what never has several candidates, with its verb: "a reward is".
    """
    problem = f"{name} judges several candidates per image together"
    if always_one:
        hint = "choose a metric of single captions, such as cider-d"
        return ParameterError(f"{problem}, and {always_one} of one", hint=hint)
    return ParameterError(problem, hint=f"score several per image: {option('several', 'mean')}")


# Results: the statistics of a metric on the captions of a system, its scores, and their signatures.


def run_signatures(
    metric: BaseMetric,
    state: State | None,
    counts: tuple[int, int, int],
    clean: Sequence[str] = (),
    references_as: str = "each",
) -> tuple[str, ...]:
    """Return the signatures of a metric's outputs in a run.

    They have the number of references per image, as in sacrebleu: 5, or "var" if it varies.

    Args:
        metric, state: the metric and its fitted state.
        counts: the result of ``reference_counts``; no references if there are none.
        clean: names of the cleaning rules for candidates.
        references_as: see ``Settings``; "cat" is shown.
    """
    signatures = metric.signatures(state)
    if clean:
        signatures = add_part(signatures, f"clean:{'+'.join(clean)}")
    n_images, n_references, most = counts
    if metric.needs_references and n_references:
        number = str(most) if n_references == most * n_images else "var"
        text = number if references_as == "each" else f"{references_as}-{number}"
        signatures = add_part(signatures, f"references:{text}")
    return signatures


def reference_counts(references: References) -> tuple[int, int, int]:
    """Return the number of images, of all their references, and the maximum per image; 0 if there are none."""
    if not references.present:
        return len(references), 0, 0
    counts = np.diff(references.offsets)
    return len(counts), int(counts.sum()), int(counts.max(initial=0))


class Statistics:
    """Statistics of one metric on one system, and everything computed from them for all its outputs, cached.

    Args:
        metric: the metric.
        rows: float64[n_images, k].
        ids: the images, in this order; empty if they are not known.
    """

    def __init__(self, metric: BaseMetric, rows: NDArray[np.float64], ids: Sequence[ImageId] = ()) -> None:
        self.metric = metric
        self.rows = rows
        self.ids = ids
        self._sums: dict[tuple[int, int], NDArray[np.float64]] = {}
        self._exchanged: dict[tuple[Statistics, int, int], NDArray[np.float64]] = {}

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """Sums of the statistics, exact, float64[k]."""
        return column_sums(self.rows)

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """Corpus scores, float64[m]."""
        return self.metric.aggregate(self.sums)

    @cached_property
    def per_caption(self) -> NDArray[np.float64]:
        """Caption scores, float64[n_images, m]."""
        scores = self.metric.aggregate(self.rows)
        scores.flags.writeable = False
        return scores

    def resampled(self, resamples: int, seed: int) -> NDArray[np.float64]:
        """Return corpus scores of resampled images, float64[resamples, m]."""
        key = (resamples, seed)
        if key not in self._sums:
            self._sums[key] = bootstrap_sums(self.rows, resamples=resamples, seed=seed)
        return self.metric.aggregate(self._sums[key])

    def exchanged_difference(self, other: Statistics, resamples: int, seed: int) -> NDArray[np.float64]:
        """Return corpus scores of another system minus its own, with each image's candidates exchanged with probability
        one half: float64[resamples, m].
        """
        key = (other, resamples, seed)
        if key not in self._exchanged:
            moved = exchange_sums(other.rows - self.rows, resamples=resamples, seed=seed)
            scores, other_scores = map(self.metric.aggregate, (self.sums + moved, other.sums - moved))
            self._exchanged[key] = other_scores - scores
        return self._exchanged[key]


class Result:
    """One output of one metric on one system: ``float(result)``, ``round(result, 4)``, ``result > 0.3``.

    A result is equal to a number if its score is, and to another result if both have the same name, signature and
    statistics of the same images. ``captious.compare`` tells whether one is better than another.

    Attributes:
        name: the label by which it was requested, such as "bleu-4" or "cider-d@paper".
        signature: everything that the score depends on besides the captions.
    """

    def __init__(self, name: str, signature: str, statistics: Statistics, column: int) -> None:
        self.name = name
        self.signature = signature
        self.statistics = statistics
        self.column = column

    @property
    def score(self) -> float:
        """The corpus score."""
        return float(self.statistics.scores[self.column])

    def __float__(self) -> float:
        return self.score

    def __round__(self, digits: int | None = None) -> float:
        return round(self.score, digits)

    def __format__(self, form: str) -> str:
        return format(self.score, form) if form else str(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Real):
            return bool(self.score == other)
        if type(other) is not type(self):
            return NotImplemented
        return (self.name, self.signature, *self.statistics.ids) == (
            other.name,
            other.signature,
            *other.statistics.ids,
        ) and np.array_equal(self.statistics.rows, other.statistics.rows, equal_nan=True)

    def __hash__(self) -> int:
        return hash(self.name if math.isnan(self.score) else self.score)

    def __lt__(self, other: object) -> bool:
        return self._compared(other, operator.lt)

    def __le__(self, other: object) -> bool:
        return self._compared(other, operator.le)

    def __gt__(self, other: object) -> bool:
        return self._compared(other, operator.gt)

    def __ge__(self, other: object) -> bool:
        return self._compared(other, operator.ge)

    def _compared(self, other: object, relation: Callable[[Any, Any], Any]) -> bool:
        if isinstance(other, Result):
            raise TypeError(
                "results are not ordered: compare scores, float(result), or systems with captious.compare, which tests "
                "the difference"
            )
        return bool(relation(self.score, other)) if isinstance(other, Real) else NotImplemented

    @property
    def output(self) -> str:
        """The output of the metric, such as "cider-d" for the label "cider-d@paper"."""
        return self.statistics.metric.outputs[self.column]

    @property
    def lower_is_better(self) -> bool | None:
        """Whether lower scores are better; None if neither higher nor lower scores are."""
        metric = self.statistics.metric
        return None if self.output in metric.no_direction else self.output in metric.lower_is_better

    @property
    def per_caption(self) -> NDArray[np.float64]:
        """Caption scores, float64[n_images], in the order of the report's ids."""
        return self.statistics.per_caption[:, self.column]

    @property
    def by_image(self) -> Mapping[ImageId, float]:
        """Caption scores by image id; an integer and its decimal digits as text are the same."""
        return ByImage(self.statistics.ids, self.per_caption.tolist())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the corpus score: ``confidence_interval`` with its defaults."""
        return self.confidence_interval()

    def confidence_interval(
        self, level: float = 0.95, *, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
    ) -> tuple[float, float]:
        """Return the percentile bootstrap interval of the corpus score over images.

        It estimates how the score would vary with other images of the same kind. Document frequencies are held fixed.

        Args:
            level: confidence level, in (0, 1).
            resamples: number of bootstrap samples.
            seed: random seed; the same seed and images give the same interval.

        Raises:
            ParameterError: a level outside (0, 1), or no resamples.
        """
        sampling = Sampling(resamples, seed, level)
        return sampling.interval(self.statistics.resampled(sampling.resamples, sampling.seed)[:, self.column])

    def __repr__(self) -> str:
        return f"<Result {self.name} {self.score:.4f}>"
