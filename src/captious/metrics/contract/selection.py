"""Selection of the metrics of a run from user requests: names, objects, functions, or nothing for those of COCO."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, Literal, TypeAlias, cast, overload

from captious.data import Captions, CaptionSets, References
from captious.data.formats import EXTENSIONS
from captious.errors import (
    CaptionWarning,
    CaptiousError,
    Message,
    ParameterError,
    UnusedSettingError,
    marked,
    option,
    requesting,
)
from captious.metrics.contract import registry
from captious.metrics.contract.functions import FunctionMetric
from captious.metrics.contract.metric import BaseMetric, Metric, ScoreFunction, SetMetric, needs_several_error
from captious.metrics.contract.parameters import label_of
from captious.metrics.contract.registry import Request, ambiguous_names
from captious.metrics.contract.settings import Settings, as_settings
from captious.plugins import answers_other_keywords
from captious.words import shortened

# Availability of metrics on this machine, and missing requirements.

#: The outputs of the COCO evaluation, in its order.
COCO = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider-d", "spice")

Readiness: TypeAlias = Literal["runs", "no model", "missing", "broken"]


@dataclass(frozen=True)
class Availability:
    """The availability of a metric.

    Args:
        state: "runs"; "no model", if a model has to be downloaded first; "missing", if a requirement has to be
            installed, or passed with each request; "broken", if a requirement is unusable.
        help: the command that installs the missing requirement, the parameter to pass, or the error; empty if it runs.
    """

    state: Readiness
    help: Message

    @property
    def runs(self) -> bool:
        """Whether it runs without installing or downloading anything."""
        return self.state == "runs"


def availability(name: str, settings: Settings | None = None, given: Collection[str] = ()) -> Availability:
    """Return the availability of a metric with these settings.

    Args:
        name: the metric.
        settings: settings of the run; by default none.
        given: parameters that are given with the request.

    Raises:
        UnknownNameError: an unknown metric.
    """
    if name not in registry.metric_names():
        raise registry.unknown(name)
    given = {*given, *(settings.of_metrics if settings is not None else ())}
    try:
        metric = registry.get(name)
        missing = None if "vectors" in given and "vectors" in metric.declared else metric.missing()
        if missing is not None:
            return Availability("missing", Message(missing))
        required = [item for item in metric.declared.values() if item.required and item.name not in given]
        instructions = [f"give {name}:{item.name}=..., {item.summary}" for item in required]
        if metric.default_models and "model" not in given:
            from captious.models.pretrained import is_here  # no other metric needs it

            if absent := [model for model in metric.default_models if not is_here(model)]:
                commands = "; ".join(f"hf download {model}" for model in absent)
                download = f"{commands} (or give another {option('model', 'NAME')})"
                return Availability("no model", Message("; ".join([download, *instructions])))
        if instructions:
            return Availability("missing", Message("; ".join(instructions)))
    except CaptiousError as error:  # offered by another package that is broken, or what it needs is damaged
        return Availability("broken", error.message)
    return Availability("runs", Message(""))


def available(settings: Settings, *, several: bool = False) -> tuple[list[str], tuple[CaptionWarning, ...]]:
    """Return every metric that is available with these settings, and a sentence about the others.

    Metrics of several candidates per image are included if ``several``.

    Metrics with a language model are included if the settings name the model, as the default may have to be downloaded
    first; those that need images or weights, if the settings name them.
    """
    names: list[str] = []
    left_out: dict[str, str] = {}
    for name in registry.metric_names():
        try:
            metric = registry.get(name)
            if issubclass(metric, SetMetric) and not several:
                continue
            # What it lacks by default may be among the settings.
            command = None if settings.vectors is not None and "vectors" in metric.declared else metric.missing()
            if metric.default_models and settings.model is None:
                left_out[name] = f"needs {option('model', 'NAME')}"
            elif command is not None:
                left_out[name] = f"run {command}"
            else:
                Request(name).make(metric, settings)
                names.append(name)
        except CaptiousError as error:  # offered by another package that is broken, or something is missing
            left_out[name] = marked(error.message)
    return names, _left_out(left_out)


def coco_available() -> tuple[list[str], tuple[CaptionWarning, ...]]:
    """Return the available metrics of the COCO evaluation, and a sentence about the others."""
    left_out = {
        name: f"run {command}" for name in COCO if (command := registry.get(Request(name).metric).missing()) is not None
    }
    return [name for name in COCO if name not in left_out], _left_out(left_out)


def _left_out(reasons: Mapping[str, str]) -> tuple[CaptionWarning, ...]:
    if not reasons:
        return ()
    metrics = "; ".join(f"{name} ({reason})" for name, reason in reasons.items())
    return (CaptionWarning(f"metrics skipped because requirements are missing: {metrics}", "left-out"),)


# ``metric_info`` and ``list_metrics``.

#: Settings that name what a metric reads, besides captions.
_READ = ("images", "objects", "vectors", "model", "parser", "training", "judge")


@dataclass(frozen=True)
class MetricInfo:
    """What a user can know of a metric before it scores anything.

    Args:
        name: its name; ``outputs`` can be requested, too.
        outputs: the numbers that it reports.
        lower_is_better: output -> whether lower scores are better; None if neither direction is.
        needs: what it reads besides candidates: "references", settings such as "images" and "model", and parameters
            that every request gives, such as "weights".
        languages: codes of the languages that it is made for; None if it can score any.
        missing: what to install, download or give before it runs on this machine; None if it runs.
        labels: name of each result that the request gives, with its parameters -> its output.
    """

    name: str
    outputs: tuple[str, ...]
    lower_is_better: Mapping[str, bool | None]
    needs: tuple[str, ...]
    languages: tuple[str, ...] | None
    missing: str | None
    labels: Mapping[str, str]


def list_metrics() -> list[MetricInfo]:
    """Return every metric of this package, registered ones, and those of other packages."""
    return [info_of_request(Request(name)) for name in registry.metric_names()]


@answers_other_keywords
def metric_info(metric: MetricLike, *, settings: Settings | None = None) -> MetricInfo:
    """Describe a metric.

    Args:
        metric: a metric, a function as for ``score``, or the name of a metric or output with its parameters.
        settings: settings that may give what the metric needs.

    Raises:
        UnknownNameError: an unknown metric or parameter.
        ParameterError: not a metric, or an invalid value of a parameter.

    >>> metric_info("bleu-4").outputs
    ('bleu-1', 'bleu-2', 'bleu-3', 'bleu-4')
    """
    if not isinstance(metric, str):
        selected_metric = select_single(metric)[0].metric
        labels = {output + selected_metric.suffix(): output for output in selected_metric.outputs}
        return _info(selected_metric, selected_metric.english_only, None, labels)
    return info_of_request(Request.from_text(metric), settings)


def info_of_request(request: Request, settings: Settings | None = None) -> MetricInfo:
    """Describe a metric by its request; see ``metric_info``."""
    readiness = availability(request.metric, settings, request.parameters)
    try:
        described = registry.get(request.metric)
        english: object = described.english_only
        if isinstance(english, property):  # it depends on parameters
            english = request.make(described, as_settings(settings)).english_only
    except CaptiousError as error:  # offered by another package that is broken
        return MetricInfo(request.metric, (), {}, (), None, readiness.help or error.message, {})
    labels = {label: described.outputs[place] for label, place in request.output_indices(described.outputs).items()}
    return _info(described, bool(english), readiness.help or None, labels)


def _info(
    metric: BaseMetric | type[BaseMetric], english_only: bool, missing: str | None, labels: Mapping[str, str]
) -> MetricInfo:
    required = [name for name, parameter in metric.declared.items() if parameter.required]
    read = [name for name in _READ if name in metric.declared]
    return MetricInfo(
        metric.name,
        tuple(metric.outputs),
        {
            output: None if output in metric.no_direction else output in metric.lower_is_better
            for output in metric.outputs
        },
        tuple(dict.fromkeys([*(["references"] if metric.needs_references else []), *read, *required])),
        ("en",) if english_only else None,
        missing,
        labels,
    )


# Selection of one metric or of several.

#: The forms of a requested metric.
MetricLike: TypeAlias = str | BaseMetric | ScoreFunction
#: One or several requested metrics.
Metrics: TypeAlias = "MetricLike | Iterable[MetricLike] | Selection"

#: Stands for every metric that can run here.
ALL = "all"


@dataclass(frozen=True)
class RequestedMetric:
    """The requested outputs of one metric.

    Args:
        metric: the metric with its parameters.
        output_indices: label -> index into its outputs.
        is_named: whether the user named it, rather than requesting all metrics or those of the COCO evaluation.
    """

    metric: BaseMetric
    output_indices: dict[str, int]
    is_named: bool = True

    def require_caption_metric(self) -> Metric:
        """Return the metric as one of single captions.

        Raises:
            ParameterError: it scores several candidates together.
        """
        if not isinstance(self.metric, Metric):
            raise needs_several_error(self.metric.name)
        return self.metric


@dataclass(frozen=True)
class Selection(Sequence[RequestedMetric]):
    """The metrics of a run.

    Args:
        requested: each metric once, in the order requested.
        settings: settings of the run.
        warnings: warnings for readers of the results, such as metrics that the default leaves out.
    """

    requested: tuple[RequestedMetric, ...]
    settings: Settings
    warnings: tuple[CaptionWarning, ...] = ()

    @overload
    def __getitem__(self, index: int) -> RequestedMetric: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[RequestedMetric]: ...
    def __getitem__(self, index: int | slice) -> RequestedMetric | Sequence[RequestedMetric]:
        return self.requested[index]

    def __iter__(self) -> Iterator[RequestedMetric]:
        return iter(self.requested)

    def __len__(self) -> int:
        """Return the number of metrics."""
        return len(self.requested)

    @cached_property
    def needs_references(self) -> bool:
        """Whether a metric needs references."""
        return any(item.metric.needs_references for item in self.requested)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the results, in the order requested."""
        return tuple(label for item in self.requested for label in item.output_indices)

    @property
    def lower_is_better(self) -> tuple[str, ...]:
        """Names of the results for which lower scores are better."""
        return tuple(
            label
            for item in self.requested
            for label, column in item.output_indices.items()
            if item.metric.outputs[column] in item.metric.lower_is_better
        )

    def for_language(self, name: str) -> Selection:
        """Return the metrics without those made for English that nobody named, which its warnings mention.

        Args:
            name: the language of the captions, which is not English.
        """
        left_out = [item.metric.name for item in self.requested if item.metric.english_only and not item.is_named]
        requests = [item for item in self.requested if not (item.metric.english_only and not item.is_named)]
        if not left_out or not requests:  # an empty selection cannot run
            return self
        is_or_are = "is" if len(left_out) == 1 else "are"
        text = f"{', '.join(left_out)} {is_or_are} left out: made for English, and the captions are in {name}."
        others = [warning for warning in self.warnings if warning.kind != _ENGLISH_ONLY]
        warnings = (*others, *_language_warnings(requests, self.settings), CaptionWarning(text, "left-out"))
        return replace(self, requested=tuple(requests), warnings=warnings)

    def without_slow(self, tables: Sequence[Captions | CaptionSets]) -> tuple[Selection, list[CaptionWarning]]:
        """Return the metrics without slow ones that nobody named, which its warnings mention.

        Args:
            tables: the captions of all systems.

        Returns:
            The metrics, and warnings to show before slow ones that were named.
        """
        requests, left_out, slow = [], [], []
        for item in self.requested:
            metric = item.metric
            name, reason = metric.name, ""
            if isinstance(metric, Metric):
                reasons = (metric.slow(table) for table in tables if isinstance(table, Captions))
                reason = next(filter(None, reasons), "")
            split = f"{name}:split=sentences parses sentence by sentence" if "split" in metric.declared else ""
            if reason and not item.is_named:
                hint = f", or {requesting(f'{name}:split=sentences')} parses sentence by sentence" if split else ""
                text = f"{name} is left out, because it {reason}: {requesting(name)} asks for it{hint}."
                left_out.append(CaptionWarning(text, "slow"))
                continue
            if reason:
                slow.append(CaptionWarning(f"{name} {reason}{': ' if split else ''}{split}.", "slow"))
            requests.append(item)
        if not left_out or not requests:  # an empty selection cannot run
            return self, slow
        return replace(self, requested=tuple(requests), warnings=(*self.warnings, *left_out)), slow


def select(
    metrics: Metrics | None = None,
    settings: Settings | None = None,
    *,
    several: bool | None = False,
) -> Selection:
    """Return the metrics of a run, each created once, in the order requested.

    Args:
        metrics: requests, metrics, or functions for ``FunctionMetric``; "all" for every available metric, None for
            those of the COCO evaluation; ``warnings`` mentions unavailable ones. A selection is returned as it is.
        settings: settings of all metrics requested by name.
        several: whether there are several candidates per image; otherwise, metrics that score them together are
            refused. None if the requested metrics decide.

    Raises:
        UnknownNameError: an unknown metric, output, variant or parameter.
        ParameterError: no request, a duplicate output, an invalid value of a parameter, or a setting that no metric
            requested by name uses.
    """
    if isinstance(metrics, Selection):
        return metrics
    settings = as_settings(settings)
    requests, unnamed, warnings = _expanded(metrics, settings, several=bool(several))
    by_name: dict[tuple[str, str], RequestedMetric] = {}
    requested: list[RequestedMetric] = []
    labels: set[str] = set()
    for item in requests:
        if isinstance(item, BaseMetric):
            registry.check_own(type(item))
            target = RequestedMetric(item, {})
            requested.append(target)
            output_indices = {output + item.suffix(): i for i, output in enumerate(item.outputs)}
        elif isinstance(item, str):
            request = Request.from_text(item)
            name = request.metric
            key = (name, request.suffix)
            if key not in by_name:
                by_name[key] = RequestedMetric(request.make(registry.get(name), settings), {}, item not in unnamed)
                requested.append(by_name[key])
            target = by_name[key]
            output_indices = request.output_indices(target.metric.outputs)
        else:
            instance = f"; make one: {item.__name__}()" if isinstance(item, type) else ""
            raise ParameterError(f"{shortened(item)} is not a metric", hint=f"give names or metrics{instance}")
        if repeated := labels & {*output_indices}:
            raise ParameterError(
                f"{', '.join(sorted(repeated))} {'are' if len(repeated) > 1 else 'is'} requested twice",
                hint="request each once, or name the variants or parameters that differ: concur@light, concur@full",
            )
        labels |= {*output_indices}
        target.output_indices.update(output_indices)
    if not requested:
        raise ParameterError("no metrics were requested", hint=f"name one, such as cider-d; {registry.LISTED}")
    if several is False and (of_sets := next((i.metric for i in requested if isinstance(i.metric, SetMetric)), None)):
        raise needs_several_error(of_sets.name)
    check_used(settings, [type(item.metric) for item in by_name.values()])
    warnings = (*warnings, *ambiguous_names(labels), *_language_warnings(requested, settings))
    return Selection(tuple(requested), settings, warnings)


_ENGLISH_ONLY = "english-only"


def _language_warnings(requested: Iterable[RequestedMetric], settings: Settings) -> list[CaptionWarning]:
    """Return a warning about metrics made for English, if the captions are in another language."""
    language: Any = settings.language
    if not settings.is_foreign or not (names := [item.metric.name for item in requested if item.metric.english_only]):
        return []
    text = f"{', '.join(names)}: made for English, so scores of captions in {language.name.capitalize()} mean nothing."
    return [CaptionWarning(text, _ENGLISH_ONLY)]


def _expanded(
    metrics: MetricLike | Iterable[MetricLike] | None, settings: Settings, *, several: bool
) -> tuple[list[str | BaseMetric], set[str], tuple[CaptionWarning, ...]]:
    """Return the requests with groups of metrics written out, those that nobody named, and warnings about metrics left
    out.
    """
    if metrics is None:
        names, warnings = coco_available()
        return [*names], {*names}, warnings
    requests: list[str | BaseMetric] = []
    unnamed: set[str] = set()
    warnings = ()
    several_items = isinstance(metrics, Iterable) and not isinstance(metrics, str | bytes | BaseMetric | type)
    for item in cast("Iterable[MetricLike]", metrics if several_items else [metrics]):
        if isinstance(item, str) and item.strip().lower() == ALL:
            names, left_out = available(settings, several=several)
            requests += names
            unnamed |= {*names}
            warnings += left_out
        elif isinstance(item, str | BaseMetric | type) or not callable(item):
            requests.append(cast("str | BaseMetric", item))  # others are refused later
        else:
            requests.append(registry.named_freely(FunctionMetric(item)))
    return requests, unnamed, warnings


def select_single(metric: MetricLike, settings: Settings | None = None) -> Selection:
    """Return the selection of one metric, for functions of a single metric.

    Raises:
        UnknownNameError: an unknown metric, output, variant or parameter.
        ParameterError: as ``select``.
    """
    if isinstance(metric, str) and metric.strip().lower() == ALL:
        raise registry.unknown(ALL)
    return select([metric], settings, several=True)


def names_metric(value: object) -> bool:
    """Return whether this is a metric or the name of one, for errors about arguments in another order."""
    if not isinstance(value, str):
        return isinstance(value, BaseMetric)
    try:
        return registry.owner_of(Request.from_text(value).name) is not None
    except ParameterError:
        return False


def check_order(
    function: str, captions: Mapping[str, object], metrics: object, *, last: str = "metrics", hint: str = ""
) -> None:
    """Refuse arguments in another order: a metric in place of captions, or captions in place of metrics.

    Args:
        function: the public function that was called.
        captions: the parameters before the metrics, in order, and what was given.
        metrics: what was given as metrics.
        last: the parameter of metrics.
        hint: what to write; by default the call.

    Raises:
        ParameterError: names the order.
    """
    given = [item for item in captions.items() if names_metric(item[1]) and not _is_file(item[1])]
    given += [(last, metrics)] if _are_captions(metrics) else []
    if given:
        name, value = given[0]
        first, *others = [*captions, last]
        raise ParameterError(
            f"{function} takes {first} first, then {', then '.join(others)}",
            where=f"{name}: {shortened(value)}",
            hint=hint or f"write captious.{function}({', '.join([first, *others])})",
        )


def _is_file(value: object) -> bool:
    return isinstance(value, str) and os.path.exists(value)


def _are_captions(metrics: object) -> bool:
    """Return whether this can only be captions: metrics are names, metrics, functions, or numbers by name."""
    if isinstance(metrics, BaseMetric):
        return False
    if isinstance(metrics, Mapping):
        return not all(names_metric(name) or isinstance(weight, Real) for name, weight in metrics.items())
    if isinstance(metrics, list | tuple):
        return not all(isinstance(metric, str | BaseMetric) or callable(metric) for metric in metrics)
    is_table = isinstance(metrics, References | Captions | CaptionSets | os.PathLike) or hasattr(metrics, "columns")
    return is_table or (isinstance(metrics, str) and metrics.lower().removesuffix(".gz").endswith(EXTENSIONS))


def check_used(settings: Settings, metrics: Iterable[type[BaseMetric]]) -> None:
    """Refuse a setting that no metric of the run uses.

    Args:
        settings: settings of the run.
        metrics: classes of the metrics requested by name.

    Raises:
        UnusedSettingError: names the setting, and the metrics that use it.
    """
    given = settings.of_metrics
    used = settings.implied.union(*(metric.declared for metric in metrics)) if given else ()
    for name, value in given.items():
        if name not in used:
            users = [metric.name for metric in registry.usable() if name in metric.declared]
            raise UnusedSettingError(
                f"the setting {name} was given, but no requested metric uses it",
                where=f"{name}: {label_of(value)}",
                hint=f"remove {name}, or request by name {', '.join(users)}",
            )
