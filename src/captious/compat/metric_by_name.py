"""A metric chosen by name, with settings as keyword arguments: how toolkits that know nothing of captious make one."""

from __future__ import annotations

from typing import Any

from captious.errors import ParameterError, UnknownNameError
from captious.metrics.contract import registry
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.selection import Chosen, select
from captious.metrics.contract.settings import accepted
from captious.metrics.contract.specification import Specification

__all__ = ["choose"]


def choose(metric: str | Metric, **settings: Any) -> Chosen:
    """A metric, and which of its outputs are asked for.

    Args:
        metric: a metric, or its specification, such as "cider-d", "bleu-4", "cider-d@paper" or "rouge-s:gap=2".
        settings: parameters of the metric's class, such as ``variant``, ``tokenizer`` and ``idf``.

    Raises:
        UnknownNameError: no such metric, output, variant or parameter.
        ParameterError: settings both as text and as keyword arguments, or for a metric that is already made.
    """
    if not settings:
        (chosen,) = select([metric])
        return chosen
    if isinstance(metric, Metric):
        raise ParameterError(
            f"{metric.name} is already made, and was given {', '.join(settings)}", help="give the settings to its class"
        )
    specification = Specification.from_text(metric)
    owner = registry.owner(specification.name)
    if owner is None:
        raise registry.unknown(specification.name)
    if specification.suffix:
        raise ParameterError(
            "settings are given both as text and as keyword arguments",
            where=f"{metric}; {', '.join(settings)}",
            help="give all of them in one way",
        )
    class_ = registry.get(owner)
    parameters = accepted(class_)
    if unknown := [name for name in settings if name not in parameters]:
        raise UnknownNameError(
            f"{owner} has no parameter {unknown[0]!r}",
            help=f"its parameters are {', '.join(parameters)}" if parameters else "it has no parameters",
        )
    instance = class_(**settings)
    # The name of an output selects that output alone, even where it is also the metric's name.
    outputs = [specification.name] if specification.name in instance.outputs else list(instance.outputs)
    return Chosen(instance, {output: instance.outputs.index(output) for output in outputs})
