"""Selection of the metrics of a run from user requests: names, objects, functions, or nothing for those of COCO."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast, overload

from captious.data import Captions, CaptionSets
from captious.errors import ParameterError
from captious.metrics.contract import catalogue
from captious.metrics.contract.availability import available, coco_available
from captious.metrics.contract.catalogue import ambiguous_names
from captious.metrics.contract.metric import BaseMetric, Metric, ScoreFunction
from captious.metrics.contract.parameters import label_of
from captious.metrics.contract.request import Request
from captious.metrics.contract.set_metrics import SetMetric, needs_several_error
from captious.metrics.contract.settings import Settings

#: The forms of a requested metric.
MetricLike: TypeAlias = str | BaseMetric | ScoreFunction

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
        """Return the number of metrics."""
        return len(self.requested)

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

    def without_slow(self, tables: Sequence[Captions | CaptionSets]) -> tuple[Selection, list[str]]:
        """Return the metrics without slow ones that nobody named, which its warnings mention.

        Args:
            tables: the captions of all systems.

        Returns:
            The metrics, and warnings to show before slow ones that were named.
        """
        requests, left_out, slow = [], [], []
        for item in self:
            metric = item.metric
            name, reason = metric.name, ""
            if isinstance(metric, Metric):
                reasons = (metric.slow(table) for table in tables if isinstance(table, Captions))
                reason = next(filter(None, reasons), "")
            split = f"{name}:split=sentences parses sentence by sentence" if "split" in metric.declared else ""
            if reason and not item.is_named:
                hint = f", or -m {split}" if split else ""
                left_out.append(f"{name} is left out, because it {reason}: -m {name} asks for it{hint}.")
                continue
            if reason:
                slow.append(f"{name} {reason}{': ' if split else ''}{split}.")
            requests.append(item)
        if not requests:  # an empty selection cannot run
            return self, slow
        return replace(self, requested=tuple(requests), warnings=(*self.warnings, *left_out)), slow


def select(
    metrics: MetricLike | Iterable[MetricLike] | None = None,
    settings: Settings | None = None,
    *,
    several: bool | None = False,
) -> Selection:
    """Return the metrics of a run, each created once, in the order requested.

    Args:
        metrics: requests, metrics, or functions for ``FunctionMetric``; "all" for every available metric, None for
            those of the COCO evaluation; ``warnings`` mentions unavailable ones.
        settings: settings of all metrics requested by name.
        several: whether there are several candidates per image; otherwise, metrics that score them together are
            refused. None if the requested metrics decide.

    Raises:
        UnknownNameError: an unknown metric, output, variant or parameter.
        ParameterError: no request, a duplicate output, an invalid value of a parameter, or a setting that no metric
            requested by name uses.
    """
    if not isinstance(settings := settings or Settings(), Settings):
        names = [*settings] if isinstance(settings, Mapping) else ["tokenizer"]
        raise ParameterError(
            f"{settings!r:.60} is not a captious.Settings",
            help=f"give captious.Settings({', '.join(f'{name}=...' for name in names)})",
        )
    requests, unnamed, warnings = _expanded(metrics, settings, several=bool(several))
    by_name: dict[tuple[str, str], RequestedMetric] = {}
    requested: list[RequestedMetric] = []
    labels: set[str] = set()
    for item in requests:
        if isinstance(item, BaseMetric):
            catalogue.check_own(type(item))
            target = RequestedMetric(item, {})
            requested.append(target)
            output_indices = {output + item.suffix(): i for i, output in enumerate(item.outputs)}
        elif isinstance(item, str):
            request = Request.from_text(item)
            name = request.metric
            key = (name, request.suffix)
            if key not in by_name:
                by_name[key] = RequestedMetric(request.make(catalogue.get(name), settings), {}, item not in unnamed)
                requested.append(by_name[key])
            target = by_name[key]
            output_indices = request.output_indices(target.metric.outputs)
        else:
            instance = f"; make one: {item.__name__}()" if isinstance(item, type) else ""
            raise ParameterError(f"{item!r:.60} is not a metric", help=f"give names or metrics{instance}")
        if repeated := labels & {*output_indices}:
            raise ParameterError(
                f"{', '.join(sorted(repeated))} {'are' if len(repeated) > 1 else 'is'} requested twice",
                help="request each once, or with different variants or parameters: rouge-s, rouge-s:gap=2",
            )
        labels |= {*output_indices}
        target.output_indices.update(output_indices)
    if not requested:
        raise ParameterError(
            "no metrics were requested", help="name one, such as cider-d; run `captious metrics` to list them"
        )
    if several is False and (of_sets := next((i.metric for i in requested if isinstance(i.metric, SetMetric)), None)):
        raise needs_several_error(of_sets.name)
    check_used(settings, [type(item.metric) for item in by_name.values()])
    warnings = (*warnings, *ambiguous_names(labels), *_language_warnings(requested, settings))
    return Selection(tuple(requested), settings, warnings)


def _language_warnings(requested: Iterable[RequestedMetric], settings: Settings) -> list[str]:
    """Return a warning about metrics made for English, if the captions are in another language."""
    names = [item.metric.name for item in requested if item.metric.english_only]
    if settings.language is None or not names:
        return []
    from captious.text.languages import ENGLISH, as_language

    language = as_language(settings.language)
    if language == ENGLISH:
        return []
    made_for = f"{', '.join(names)}: made for English"
    return [f"{made_for}, so that scores of captions in {language.name.capitalize()} mean nothing."]


def _expanded(
    metrics: MetricLike | Iterable[MetricLike] | None, settings: Settings, *, several: bool
) -> tuple[list[str | BaseMetric], set[str], tuple[str, ...]]:
    """Return the requests with groups of metrics written out, those that nobody named, and warnings about metrics left
    out.
    """
    if metrics is None:
        names, warnings = coco_available()
        return [*names], {*names}, warnings
    requests: list[str | BaseMetric] = []
    unnamed: set[str] = set()
    warnings = ()
    several_items = isinstance(metrics, Iterable) and not isinstance(metrics, str | BaseMetric | type)
    for item in cast("Iterable[MetricLike]", metrics if several_items else [metrics]):
        if isinstance(item, str) and item.strip().lower() == ALL:
            names, left_out = available(settings, several=several)
            requests += names
            unnamed |= {*names}
            warnings += left_out
        elif isinstance(item, str | BaseMetric | type) or not callable(item):
            requests.append(cast("str | BaseMetric", item))  # others are refused later
        else:
            from captious.metrics.contract.own_function import FunctionMetric

            requests.append(FunctionMetric(item))
    return requests, unnamed, warnings


def select_single(metric: MetricLike, settings: Settings | None = None) -> Selection:
    """Return the selection of one metric, for functions of a single metric.

    Raises:
        UnknownNameError: an unknown metric, output, variant or parameter.
        ParameterError: as ``select``.
    """
    if isinstance(metric, str) and metric.strip().lower() == ALL:
        raise catalogue.unknown(ALL)
    return select([metric], settings, several=True)


def select_one(metric: str, settings: Settings | None = None) -> BaseMetric:
    """Return the metric of a request. Errors are those of ``select_single``."""
    return select_single(metric, settings)[0].metric


def check_used(settings: Settings, metrics: Iterable[type[BaseMetric]]) -> None:
    """Refuse a setting that no metric of the run uses.

    Args:
        settings: settings of the run.
        metrics: classes of the metrics requested by name.

    Raises:
        ParameterError: names the setting, and the metrics that use it.
    """
    parameters = {name for metric in metrics for name in metric.declared}
    for name, value in settings.of_metrics.items():
        if name not in parameters | settings.implied:
            users = [metric for metric in catalogue.metric_names() if name in _declared(metric)]
            raise ParameterError(
                f"the setting {name} was given, but no requested metric uses it",
                where=f"{name}: {label_of(value)}",
                help=f"remove {name}, or request by name {', '.join(users)}",
            )


def _declared(metric: str) -> Iterable[str]:
    """Return the parameters of a metric; none if it is another package's and cannot be loaded."""
    try:
        return catalogue.get(metric).declared
    except ParameterError:
        return ()
