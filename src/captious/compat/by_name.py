"""Creation of metrics by name, with settings as keyword arguments, for the interfaces of other toolkits."""

from __future__ import annotations

from typing import Any

from captious.errors import ParameterError
from captious.metrics.contract import registry
from captious.metrics.contract.metric import BaseMetric
from captious.metrics.contract.registry import Request
from captious.metrics.contract.selection import RequestedMetric, select


def choose(metric: str | BaseMetric, **settings: Any) -> RequestedMetric:
    """Return a metric, and which of its outputs are requested.

    Args:
        metric: a metric, or its request, such as "cider-d", "bleu-4", "cider-d@paper" or "rouge-s:gap=2".
        settings: parameters of the metric's class, such as ``variant``, ``tokenizer`` and ``idf``.

    Raises:
        UnknownNameError: an unknown metric, output, variant or parameter.
        ParameterError: settings both as text and as keyword arguments, or for a metric object.
    """
    if not settings:
        (requested,) = select([metric])
        return requested
    if isinstance(metric, BaseMetric):
        raise ParameterError(
            f"{metric.name} is already made, and was given {', '.join(settings)}", hint="give the settings to its class"
        )
    request = Request.from_text(metric)
    if request.variant or request.parameters:
        raise ParameterError(
            "settings are given both as text and as keyword arguments",
            where=f"{metric}; {', '.join(settings)}",
            hint="give all of them in one way",
        )
    instance = registry.get(request.metric)(**settings)
    return RequestedMetric(instance, request.output_indices(instance.outputs))
