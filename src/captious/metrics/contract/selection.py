"""``select``: make the requested metrics ready to run.

A metric is asked for by its name (``cider-d``), by one of its outputs (``bleu-4``), or either with a variant and
parameters (``cider-d@paper``, ``rouge-s:gap=2``; see specification.py), or as an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from captious.errors import CaptiousError, ParameterError
from captious.metrics.contract import registry
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.set_metric import SetMetric, one_caption_each
from captious.metrics.contract.settings import Settings, accepted, label_of
from captious.metrics.contract.specification import Specification

__all__ = ["ALL", "COCO", "Chosen", "Selection", "all_here", "check_used", "coco_here", "select", "select_one"]

#: What the COCO evaluation reports, in its order.
COCO = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider-d", "spice")

#: Stands for every metric that can run here.
ALL = "all"


@dataclass(frozen=True)
class Chosen:
    """The requested outputs of one metric.

    Args:
        metric: the metric, parameters fixed.
        columns: label -> index into its outputs.
    """

    metric: Metric
    columns: dict[str, int]


@dataclass(frozen=True)
class Selection(Sequence[Chosen]):
    """The metrics of a run.

    Args:
        chosen: each metric once, in the order requested.
        settings: those of the run.
        warnings: what the reader of the results should know about the choice, such as what the default leaves out.
    """

    chosen: tuple[Chosen, ...]
    settings: Settings
    warnings: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Chosen: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Chosen]: ...
    def __getitem__(self, index: int | slice) -> Chosen | Sequence[Chosen]:
        return self.chosen[index]

    def __iter__(self) -> Iterator[Chosen]:
        return iter(self.chosen)

    def __len__(self) -> int:
        """Number of metrics."""
        return len(self.chosen)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the results, in the order requested."""
        return tuple(label for each in self.chosen for label in each.columns)

    @property
    def lower_is_better(self) -> tuple[str, ...]:
        """The names of those results of which lower scores are better."""
        return tuple(
            label
            for each in self.chosen
            for label, column in each.columns.items()
            if each.metric.outputs[column] in each.metric.lower_is_better
        )


def select(
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    settings: Settings | None = None,
    *,
    several: bool = False,
) -> Selection:
    """The metrics of a run, each made once, in the order requested.

    Args:
        metrics: specifications or metrics; "all" for every metric that can run here, None for those of the COCO
            evaluation that can; ``warnings`` says so if some cannot.
        settings: what applies to all metrics that are asked for by name.
        several: there are several candidates per image; otherwise, metrics that judge them together are refused.

    Raises:
        UnknownNameError: no such metric, output, variant or parameter.
        ParameterError: nothing was asked for, one output twice, a parameter with a value that it does not take, or a
            setting that no metric asked for uses.
    """
    settings = Settings() if settings is None else settings
    if not isinstance(settings, Settings):
        raise ParameterError(
            f"{settings!r:.60} is not a captious.Settings", help="give captious.Settings(tokenizer=...)"
        )
    warnings: tuple[str, ...] = ()
    if metrics is None:
        metrics, warnings = coco_here()
    asked: list[str | Metric] = []
    for item in [metrics] if isinstance(metrics, str | Metric) else metrics:
        if isinstance(item, str) and item.strip().lower() == ALL:
            here, left_out = all_here(settings, several=several)
            asked += here
            warnings += left_out
        else:
            asked.append(item)
    made: dict[tuple[str, str], Chosen] = {}
    chosen: list[Chosen] = []
    labels: set[str] = set()
    for item in asked:
        if isinstance(item, Metric):
            choice = Chosen(item, {})
            chosen.append(choice)
            wanted = {output: i for i, output in enumerate(item.outputs)}
        elif not isinstance(item, str):
            made_of = f"; make one: {item.__name__}()" if isinstance(item, type) else ""
            raise ParameterError(f"{item!r} is not a metric", help=f"give names or metrics{made_of}")
        else:
            what = Specification.from_text(item)
            owner = registry.owner(what.name)
            if owner is None:
                raise registry.unknown(what.name)
            key = (owner, what.suffix)
            if key not in made:
                made[key] = Chosen(what.make(registry.get(owner), settings), {})
                chosen.append(made[key])
            choice = made[key]
            metric = choice.metric
            # The name of an output selects that output alone, even where it is also the metric's name.
            named = [what.name] if what.name in metric.outputs else list(metric.outputs)
            wanted = {output + what.suffix: metric.outputs.index(output) for output in named}
        if repeated := labels & {*wanted}:
            raise ParameterError(
                f"{', '.join(sorted(repeated))} is requested twice",
                help="request it once, or with different variants or parameters: rouge-s, rouge-s:gap=2",
            )
        labels |= {*wanted}
        choice.columns.update(wanted)
    if not chosen:
        raise ParameterError("no metrics were requested", help=f"available metrics: {', '.join(registry.askable())}")
    if not several:
        for each in chosen:
            if isinstance(each.metric, SetMetric):
                raise one_caption_each(each.metric.name)
    check_used(settings, [type(each.metric) for each in made.values()])
    return Selection(tuple(chosen), settings, warnings)


def select_one(metric: str, settings: Settings | None = None) -> Metric:
    """The one metric of a specification, for what can only be done with one.

    Raises:
        UnknownNameError: no such metric, output, variant or parameter.
        ParameterError: as ``select``.
    """
    if metric.strip().lower() == ALL:
        raise registry.unknown(ALL)
    (chosen,) = select([metric], settings, several=True)
    return chosen.metric


def check_used(settings: Settings, metrics: Iterable[type[Metric]]) -> None:
    """Refuse a setting that no metric of the run takes.

    Args:
        settings: those of the run.
        metrics: the classes of the metrics that are asked for by name.

    Raises:
        ParameterError: which setting, and which metrics take it.
    """
    taken = {name for metric in metrics for name in accepted(metric)}
    for name, value in settings.of_metrics.items():
        if name not in taken:
            users = [metric for metric in registry.names() if name in _accepted(metric)]
            raise ParameterError(
                f"the setting {name} was given, but no requested metric uses it",
                where=f"{name}: {label_of(value)}",
                help=f"remove {name}, or request {', '.join(users)}",
            )


def _accepted(metric: str) -> Iterable[str]:
    """The parameters of a metric; none if it is another package's and cannot be loaded."""
    try:
        return accepted(registry.get(metric))
    except ParameterError:
        return ()


def all_here(settings: Settings, *, several: bool = False) -> tuple[list[str], tuple[str, ...]]:
    """Every metric that can run here with these settings, and a sentence about those that cannot.

    Metrics that judge several candidates per image together are among them if there are several.

    A metric on a language model is among them if the settings say which model, as its default may have to be downloaded
    first; one that needs images or weights, if the settings name them.
    """
    here: list[str] = []
    left_out: dict[str, str] = {}
    for name in registry.names():
        try:
            metric = registry.get(name)
            if issubclass(metric, SetMetric) and not several:
                continue
            # What it lacks by default may be among the settings.
            command = None if settings.vectors is not None and "vectors" in accepted(metric) else metric.missing()
            if metric.default_models and settings.model is None:
                left_out[name] = "needs --model"
            elif command is not None:
                left_out[name] = f"run {command}"
            else:
                Specification(name).make(metric, settings)
                here.append(name)
        except CaptiousError as error:  # offered by another package that is broken, or something is not there
            left_out[name] = error.message
    reasons = "; ".join(f"{name} ({reason})" for name, reason in left_out.items())
    return here, (f"metrics skipped because requirements are missing: {reasons}",) if left_out else ()


def coco_here() -> tuple[list[str], tuple[str, ...]]:
    """The metrics of the COCO evaluation that can run here, and a sentence about those that cannot."""
    left_out: dict[str, str] = {}
    for name in COCO:
        owner = registry.owner(name)
        assert owner is not None
        if (command := registry.get(owner).missing()) is not None:
            left_out[name] = command
    reasons = "; ".join(f"{name} (run {command})" for name, command in left_out.items())
    warnings = (f"metrics skipped because requirements are missing: {reasons}",) if left_out else ()
    return [name for name in COCO if name not in left_out], warnings
