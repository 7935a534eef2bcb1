"""From what users request to metrics that are ready to run.

A metric is requested by its name (``cider-d``), by one of its outputs (``bleu-4``), or either with a variant and
parameters (``cider-d@paper``, ``rouge-s:gap=2``), or as an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast, overload

from captious.errors import CaptiousError, ParameterError, UnknownNameError
from captious.metrics.contract import catalogue
from captious.metrics.contract.metric import BaseMetric, Metric, no_parameter
from captious.metrics.contract.other_names import SHORT_NAMES, ambiguous_names
from captious.metrics.contract.own_function import FunctionMetric, ScoreFunction
from captious.metrics.contract.set_metrics import SetMetric, needs_several_error
from captious.metrics.contract.settings import Settings, label_of

__all__ = [
    "ALL",
    "COCO",
    "MetricLike",
    "Request",
    "RequestedMetric",
    "Selection",
    "available",
    "check_used",
    "coco_available",
    "parameters_of",
    "select",
    "select_one",
]

#: What the COCO evaluation reports, in its order.
COCO = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider-d", "spice")

#: What counts as a metric.
MetricLike: TypeAlias = str | BaseMetric | ScoreFunction

#: Stands for every metric that can run here.
ALL = "all"


@dataclass(frozen=True)
class Request:
    """A metric as text, ``name@variant:parameter=value,...``, taken apart.

    Args:
        name: of a metric or an output, in lower case and with hyphens.
        variant: in lower case; None for the metric's default.
        parameters: name in lower case -> value as it was written.
    """

    name: str
    variant: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str) -> Request:
        """Take a request apart. Names of metrics, variants and parameters may be in any case; Bleu_4 is bleu-4.

        Raises:
            ParameterError: a parameter without a value, or twice.
        """
        head, colon, tail = text.partition(":")
        name, _, variant = head.partition("@")
        parameters: dict[str, str] = {}
        for piece in tail.split(",") if colon else ():
            key, equals, value = (part.strip() for part in piece.partition("="))
            if not (key and equals and value):
                raise ParameterError(
                    f"expected PARAMETER=VALUE, got {piece!r}",
                    where=text,
                    help="write name@variant:parameter=value,parameter=value",
                )
            key = key.lower()
            if key in parameters:
                raise ParameterError(f"{key} is given twice", where=text, help="give each parameter once")
            parameters[key] = value
        name = name.strip().lower().replace("_", "-")
        name, implied = SHORT_NAMES.get(name, (name, {}))
        return cls(name, variant.strip().lower() or None, {**implied, **parameters})

    def __str__(self) -> str:
        """The text, in lower case where case does not matter."""
        written = ",".join(f"{key}={value}" for key, value in self.parameters.items())
        return self.name + (f"@{self.variant}" if self.variant else "") + (f":{written}" if written else "")

    @property
    def label(self) -> str:
        """The shortest text that requests the same output."""
        return self.name + self.suffix

    @property
    def suffix(self) -> str:
        """What labels add to the name of an output, as ``BaseMetric.suffix`` for metrics that are made."""
        metric = catalogue.get(self.metric)
        return metric.suffix_of(_as_spelled(self.variant or "", metric.variants), self._values(metric))

    @property
    def metric(self) -> str:
        """The name of the metric.

        Raises:
            UnknownNameError: there is none.
        """
        owner = catalogue.owner(self.name)
        if owner is None:
            raise catalogue.unknown(self.name)
        return owner

    def columns(self, outputs: Sequence[str]) -> dict[str, int]:
        """The requested ones among a metric's outputs: label -> index.

        The name of an output selects that output alone, even where it is also the metric's name.
        """
        selected = [self.name] if self.name in outputs else outputs
        return {output + self.suffix: outputs.index(output) for output in selected}

    def make(self, metric: type[BaseMetric], settings: Settings) -> BaseMetric:
        """The metric, under the settings of the run. Parameters written in the request take precedence.

        Raises:
            UnknownNameError: a variant or parameter that the metric does not have.
            ParameterError: a value that a parameter does not take.
        """
        arguments: dict[str, Any] = {
            name: value for name, value in settings.of_metrics.items() if name in metric.declared
        }
        if self.variant is not None:
            if "variant" not in metric.declared:
                raise UnknownNameError(f"{metric.name} has no variants", help=f"use {self.name} alone")
            arguments["variant"] = _as_spelled(self.variant, metric.variants)
        return metric(**arguments | self._values(metric))

    def _values(self, metric: type[BaseMetric]) -> dict[str, Any]:
        """The written parameters as the class takes them."""
        writable = parameters_of(metric)
        values: dict[str, Any] = {}
        for written, text in self.parameters.items():
            name = _as_spelled(written, writable)
            if name not in writable:
                raise no_parameter(metric.name, name, writable)
            try:
                values[name] = metric.declared[name].from_text(text)
            except ValueError:
                raise ParameterError(
                    f"invalid parameter value {text!r}",
                    where=f"{self.name}:{name}={text}",
                    help=f"give {writable[name]}",
                ) from None
        return values


def _as_spelled(lowered: str, names: Iterable[str]) -> str:
    """The name that has this lower-case form, or the form itself if none has."""
    return next((name for name in names if name.lower() == lowered), lowered)


def parameters_of(metric: type[BaseMetric]) -> dict[str, str]:
    """The parameters of a metric that can be written as text, besides the variant: name -> what is written."""
    return {
        name: parameter.text_form + (" or none" if parameter.takes_none else "")
        for name, parameter in metric.declared.items()
        if parameter.text_form
    }


@dataclass(frozen=True)
class RequestedMetric:
    """The requested outputs of one metric.

    Args:
        metric: the metric, parameters fixed.
        columns: label -> index into its outputs.
    """

    metric: BaseMetric
    columns: dict[str, int]

    @property
    def caption_metric(self) -> Metric:
        """The metric as one of captions.

        Raises:
            ParameterError: it judges several candidates together.
        """
        if not isinstance(self.metric, Metric):
            raise needs_several_error(self.metric.name)
        return self.metric


@dataclass(frozen=True)
class Selection(Sequence[RequestedMetric]):
    """The metrics of a run.

    Args:
        requested: each metric once, in the order requested.
        settings: those of the run.
        warnings: what readers of the results should know, such as what the default leaves out.
    """

    requested: tuple[RequestedMetric, ...]
    settings: Settings
    warnings: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> RequestedMetric: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[RequestedMetric]: ...
    def __getitem__(self, index: int | slice) -> RequestedMetric | Sequence[RequestedMetric]:
        return self.requested[index]

    def __iter__(self) -> Iterator[RequestedMetric]:
        return iter(self.requested)

    def __len__(self) -> int:
        """Number of metrics."""
        return len(self.requested)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the results, in the order requested."""
        return tuple(label for item in self.requested for label in item.columns)

    @property
    def lower_is_better(self) -> tuple[str, ...]:
        """The names of those results of which lower scores are better."""
        return tuple(
            label
            for item in self.requested
            for label, column in item.columns.items()
            if item.metric.outputs[column] in item.metric.lower_is_better
        )


def select(
    metrics: MetricLike | Iterable[MetricLike] | None = None,
    settings: Settings | None = None,
    *,
    several: bool = False,
) -> Selection:
    """The metrics of a run, each made once, in the order requested.

    Args:
        metrics: requests, metrics, or functions as ``FunctionMetric`` takes them; "all" for every metric that can run
            here, None for those of the COCO evaluation that can; ``warnings`` says so if some cannot.
        settings: what applies to all metrics that are requested by name.
        several: there are several candidates per image; otherwise, metrics that judge them together are refused.

    Raises:
        UnknownNameError: no such metric, output, variant or parameter.
        ParameterError: nothing was requested, one output twice, a parameter with a value that it does not take, or a
            setting that no metric requested by name uses.
    """
    if not isinstance(settings := settings or Settings(), Settings):
        raise ParameterError(
            f"{settings!r:.60} is not a captious.Settings", help="give captious.Settings(tokenizer=...)"
        )
    requests, warnings = _expanded(metrics, settings, several=several)
    by_name: dict[tuple[str, str], RequestedMetric] = {}
    requested: list[RequestedMetric] = []
    labels: set[str] = set()
    for item in requests:
        if isinstance(item, BaseMetric):
            if not hasattr(item, "outputs"):
                raise ParameterError(
                    f"{type(item).__name__} has no name", help='set name = "..." in the class, or register it'
                )
            target = RequestedMetric(item, {})
            requested.append(target)
            columns = {output + item.suffix(): i for i, output in enumerate(item.outputs)}
        elif isinstance(item, str):
            request = Request.from_text(item)
            name = request.metric
            key = (name, request.suffix)
            if key not in by_name:
                by_name[key] = RequestedMetric(request.make(catalogue.get(name), settings), {})
                requested.append(by_name[key])
            target = by_name[key]
            columns = request.columns(target.metric.outputs)
        else:
            instance = f"; make one: {item.__name__}()" if isinstance(item, type) else ""
            raise ParameterError(f"{item!r} is not a metric", help=f"give names or metrics{instance}")
        if repeated := labels & {*columns}:
            raise ParameterError(
                f"{', '.join(sorted(repeated))} {'are' if len(repeated) > 1 else 'is'} requested twice",
                help="request each once, or with different variants or parameters: rouge-s, rouge-s:gap=2",
            )
        labels |= {*columns}
        target.columns.update(columns)
    if not requested:
        raise ParameterError("no metrics were requested", help="name one, such as cider-d; captious metrics lists all")
    if not several and (of_sets := next((i.metric for i in requested if isinstance(i.metric, SetMetric)), None)):
        raise needs_several_error(of_sets.name)
    check_used(settings, [type(item.metric) for item in by_name.values()])
    return Selection(tuple(requested), settings, (*warnings, *ambiguous_names(labels)))


def _expanded(
    metrics: MetricLike | Iterable[MetricLike] | None, settings: Settings, *, several: bool
) -> tuple[list[str | BaseMetric], tuple[str, ...]]:
    """The requests, those that stand for several metrics written out, and warnings about what these leave out."""
    if metrics is None:
        names, warnings = coco_available()
        return [*names], warnings
    requests: list[str | BaseMetric] = []
    warnings = ()
    several_items = isinstance(metrics, Iterable) and not isinstance(metrics, str | BaseMetric | type)
    for item in cast("Iterable[MetricLike]", metrics if several_items else [metrics]):
        if isinstance(item, str) and item.strip().lower() == ALL:
            names, left_out = available(settings, several=several)
            requests += names
            warnings += left_out
        elif isinstance(item, str | BaseMetric | type) or not callable(item):
            requests.append(cast("str | BaseMetric", item))  # others are refused later
        else:
            requests.append(FunctionMetric(item))
    return requests, warnings


def select_one(metric: str, settings: Settings | None = None) -> BaseMetric:
    """The one metric of a request, for what can only be done with one.

    Raises:
        UnknownNameError: no such metric, output, variant or parameter.
        ParameterError: as ``select``.
    """
    if metric.strip().lower() == ALL:
        raise catalogue.unknown(ALL)
    (requested,) = select([metric], settings, several=True)
    return requested.metric


def check_used(settings: Settings, metrics: Iterable[type[BaseMetric]]) -> None:
    """Refuse a setting that no metric of the run takes.

    Args:
        settings: those of the run.
        metrics: the classes of the metrics that are requested by name.

    Raises:
        ParameterError: which setting, and which metrics take it.
    """
    taken = {name for metric in metrics for name in metric.declared}
    for name, value in settings.of_metrics.items():
        if name not in taken:
            users = [metric for metric in catalogue.names() if name in _declared(metric)]
            raise ParameterError(
                f"the setting {name} was given, but no requested metric uses it",
                where=f"{name}: {label_of(value)}",
                help=f"remove {name}, or request by name {', '.join(users)}",
            )


def _declared(metric: str) -> Iterable[str]:
    """The parameters of a metric; none if it is another package's and cannot be loaded."""
    try:
        return catalogue.get(metric).declared
    except ParameterError:
        return ()


def available(settings: Settings, *, several: bool = False) -> tuple[list[str], tuple[str, ...]]:
    """Every metric that can run here with these settings, and a sentence about those that cannot.

    Metrics that judge several candidates per image together are among them if there are several.

    A metric on a language model is among them if the settings say which model, as its default may have to be downloaded
    first; one that needs images or weights, if the settings name them.
    """
    names: list[str] = []
    left_out: dict[str, str] = {}
    for name in catalogue.names():
        try:
            metric = catalogue.get(name)
            if issubclass(metric, SetMetric) and not several:
                continue
            # What it lacks by default may be among the settings.
            command = None if settings.vectors is not None and "vectors" in metric.declared else metric.missing()
            if metric.default_models and settings.model is None:
                left_out[name] = "needs --model"
            elif command is not None:
                left_out[name] = f"run {command}"
            else:
                Request(name).make(metric, settings)
                names.append(name)
        except CaptiousError as error:  # offered by another package that is broken, or something is missing
            left_out[name] = error.message
    return names, _left_out(left_out)


def coco_available() -> tuple[list[str], tuple[str, ...]]:
    """The metrics of the COCO evaluation that can run here, and a sentence about those that cannot."""
    left_out = {
        name: f"run {command}"
        for name in COCO
        if (command := catalogue.get(Request(name).metric).missing()) is not None
    }
    return [name for name in COCO if name not in left_out], _left_out(left_out)


def _left_out(reasons: Mapping[str, str]) -> tuple[str, ...]:
    if not reasons:
        return ()
    listed = "; ".join(f"{name} ({reason})" for name, reason in reasons.items())
    return (f"metrics skipped because requirements are missing: {listed}",)
