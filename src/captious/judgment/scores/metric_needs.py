"""Requirements of metrics that are not part of the package, as the metrics declare them, on any machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

from captious.judgment.scores.metric_sums import summands
from captious.metrics.contract import catalogue
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import BaseMetric
from captious.metrics.contract.request import Request
from captious.metrics.shared.vector_metric import VectorMetric

#: A file in the folder of judgment data, within a request for a metric.
FILE_NAME = re.compile(r"\{([^{}]+)\}")
WORD_VECTORS = "word vectors"


def needs_of_metric(request: str) -> list[str]:
    """Return the files, models and word vectors that a metric, or a part of a sum, needs; may be empty.

    Raises:
        UnknownNameError, ParameterError: an invalid request.
    """
    return [*dict.fromkeys(need for part in summands(request) for need in _needs(part))]


def _needs(request: str) -> Iterator[str]:
    yield from (f"{name} in the folder of data" for name in FILE_NAME.findall(request))
    parsed = Request.from_text(request)
    metric = catalogue.get(parsed.metric)
    model, vectors = parsed.parameters.get("model"), parsed.parameters.get("vectors")
    yield from metric.default_models if model is None else [model]
    for name, parameter in metric.declared.items():
        if parameter.required and name not in parsed.parameters:
            yield parameter.summary.partition(":")[0]
    if vectors is not None:
        yield f"{WORD_VECTORS} {vectors}"
    elif model is None and _uses_vectors(metric):
        yield WORD_VECTORS


def _uses_vectors(metric: type[BaseMetric]) -> bool:
    """Return whether a metric, or a part of it, requires word vectors."""
    parts = metric.part_classes if issubclass(metric, Combined) else ()
    return issubclass(metric, VectorMetric) or any(map(_uses_vectors, parts))
