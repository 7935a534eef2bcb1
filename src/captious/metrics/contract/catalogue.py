"""The catalogue of metrics by name: those of this package, registered ones, and those of other packages.

``built_in.py`` lists the package's own with their outputs, so that finding one imports no other; tools/catalogue.py
writes it. Others join with ``register``, or by an entry point of the group ``captious.metrics``, whose name is the
metric's and whose value is its class.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TypeVar

from captious.entry_points import EntryPoints, did_you_mean
from captious.errors import ParameterError, UnknownNameError
from captious.metrics.contract.built_in import METRICS
from captious.metrics.contract.metric import BaseMetric, Declared, is_built_in
from captious.metrics.contract.other_names import toolkit_hint

MetricClass = TypeVar("MetricClass", bound=type[BaseMetric])

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")
_PLUGINS = EntryPoints("captious.metrics", "metric", tuple(METRICS))
_registered: dict[str, type[BaseMetric]] = {}


def register(name: str) -> Callable[[MetricClass], MetricClass]:
    """Class decorator that registers a metric under a name until the process ends.

    Raises:
        ParameterError: not a metric, or a name that is taken.
    """

    if not isinstance(name, str):
        raise ParameterError("register takes the name of the metric", help='write @captious.register("my-metric")')

    def add(metric: MetricClass) -> MetricClass:
        if not (isinstance(metric, type) and issubclass(metric, BaseMetric)):
            raise ParameterError(f"{metric!r} is not a metric", help="derive the class from captious.Metric")
        own = vars(metric).get("outputs", (name,))
        _check_free(name, own, [other for other in names() if other != name or other in METRICS])
        _named(metric, name)
        _registered[name] = metric
        return metric

    return add


def check_own(metric: type[BaseMetric]) -> None:
    """Check a class that is used without having been registered.

    Raises:
        ParameterError: it has no name, that of another metric, or a declaration that does not hold together.
    """
    name = getattr(metric, "name", None)
    if is_built_in(metric) or _registered.get(str(name)) is metric:
        return
    if not isinstance(name, str):
        raise ParameterError(f"{metric.__name__} has no name", help='set name = "..." in the class, or register it')
    _check_free(name, metric.outputs, METRICS)
    _named(metric, name)


def _check_free(name: str, own_outputs: Sequence[str], others: Iterable[str]) -> None:
    reserved = {label for other in others for label in (other, *outputs(other))}
    if clash := next((label for label in (name, *own_outputs) if label in reserved), None):
        raise ParameterError(f"the name {clash} is taken", help="give the metric and its outputs other names")


def check_label(label: str) -> None:
    """Check what a metric or an output is called.

    Raises:
        ParameterError: it could not be requested, or signatures could not be read.
    """
    if label != label.lower():
        raise ParameterError(
            f"the name {label} contains capitals, but metric names must be lower case",
            help=f"call it {label.lower()}",
        )
    if not _NAME.fullmatch(label) or label == "all":
        raise ParameterError(
            f"{label!r} cannot name a metric or an output",
            help='use letters, digits, dots and hyphens; "all" stands for every metric',
        )


def names() -> list[str]:
    """Names of all metrics: those of the package, then others by name."""
    return [*METRICS, *sorted({*_registered, *_PLUGINS.by_name} - {*METRICS})]


def get(name: str) -> type[BaseMetric]:
    """The class of a metric.

    Raises:
        UnknownNameError: no metric of that name.
        ParameterError: an entry point that does not lead to a metric.
    """
    if name in METRICS:
        module, class_name, _ = METRICS[name]
        metric: type[BaseMetric] = getattr(import_module(f"captious.{module}"), class_name)
        return metric
    if name in _registered:
        return _registered[name]
    if name in _PLUGINS.by_name:
        loaded = _PLUGINS.load(name)
        if not (isinstance(loaded, type) and issubclass(loaded, BaseMetric)):
            raise _PLUGINS.refuse(name, "a captious.Metric")
        return _named(loaded, name)
    raise unknown(name)


def outputs(name: str) -> tuple[str, ...]:
    """The outputs of a metric; none if it is another package's and cannot be loaded."""
    if name in METRICS:
        return METRICS[name][2]
    try:
        return get(name).outputs
    except ParameterError:
        return ()


def owner(name: str) -> str | None:
    """The metric that a name belongs to, its own or one of its outputs; None if there is none."""
    for metric in METRICS:
        if name in (metric, *METRICS[metric][2]):
            return metric
    return next((metric for metric in (*_registered, *_PLUGINS.by_name) if name in (metric, *outputs(metric))), None)


def requestable() -> list[str]:
    """All names that can be requested: metrics and their outputs."""
    return [name for metric in names() for name in dict.fromkeys((metric, *outputs(metric)))]


def unknown(name: str) -> UnknownNameError:
    """The error for a name that no metric has."""
    guess = did_you_mean(name, requestable(), most=3)
    help = f"{guess}{toolkit_hint(name)}run `captious metrics` to list them"
    if name.endswith(".py"):
        help = f"a function is requested as {name}:FUNCTION"
    return UnknownNameError(f"there is no metric {name!r}", help=help)


def _named(metric: type[BaseMetric], name: str) -> type[BaseMetric]:
    """The metric under the name it was registered by.

    Raises:
        ParameterError: a declaration that does not hold together.
    """
    own_outputs = vars(metric).get("outputs", ())
    if isinstance(own_outputs, str) or not all(isinstance(output, str) for output in own_outputs):
        raise ParameterError(f"{name} has outputs {own_outputs!r:.60}", help="set outputs to a tuple of names")
    for label in (name, *own_outputs):
        check_label(label)
    if not own_outputs and len(getattr(metric, "outputs", ())) > 1:
        raise ParameterError(
            f"{name} does not declare the names of its outputs",
            where=f"{metric.__qualname__} would also report {', '.join(metric.outputs)}",
            help="set outputs = (...) in the class",
        )
    if metric.__init__ is not Declared.__init__:
        raise ParameterError(
            f"{name} has a constructor of its own",
            where=metric.__qualname__,
            help="declare its parameters in the class, as in bound: captious.NumberParameter = "
            "captious.NumberParameter(default=2.0), "
            "and check them in setup()",
        )
    if not own_outputs:
        metric.outputs = (name,)
    for attribute in ("lower_is_better", "no_direction"):
        if strangers := sorted(set(getattr(metric, attribute)) - set(metric.outputs)):
            raise ParameterError(
                f"{name} names {strangers[0]} in {attribute}, but has no such output",
                where=f"its outputs are {', '.join(metric.outputs)}",
                help=f"set {attribute} to a frozenset of names of outputs",
            )
    metric.name = name
    return metric
