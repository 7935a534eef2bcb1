"""Sums of metrics: ``sum:cider-d+spice``, or with weights, ``sum:2*cider-d+spice``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError
from captious.judgment.scores.metric_scores import Metrics
from captious.metrics.contract import catalogue
from captious.metrics.contract.request import SUM, Request
from captious.metrics.contract.selection import MetricLike

_PLUS = re.compile(r"\+(?=[A-Za-z]|[\d.]+\*)")
_WEIGHTED = re.compile(r"(?:([\d.]+)\*)?(.*)", re.DOTALL)


@dataclass(frozen=True)
class MetricSum:
    """A weighted sum of scores, each in standard deviations.

    Args:
        label: the request.
        requests: requests for its parts, with their parameters.
        weights: label of a part -> its weight, in the same order.
    """

    label: str
    requests: tuple[str, ...]
    weights: Mapping[str, float]

    def total(self, scores: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the sum, float64[n], of scores by metric, float64[n] each; constant scores count as 0.

        Raises:
            ParameterError: a part has no scores of its own, as it has several outputs.
        """
        if missing := [part for part in self.weights if part not in scores]:
            raise ParameterError(
                f"{missing[0]} has several outputs", where=self.label, help="name one output in a sum, such as bleu-4"
            )
        parts = [(weight, scores[part]) for part, weight in self.weights.items()]
        scaled = np.array([weight * (part - part.mean()) / (part.std() or 1.0) for weight, part in parts])
        return np.asarray(scaled.sum(axis=0), np.float64)

    def signature(self, signatures: Mapping[str, str]) -> str:
        """Return the signature, composed of those of its parts."""
        return f"{self.label}|{' + '.join(signatures[part] for part in self.weights)}"


def as_sum(metric: MetricLike) -> MetricSum | None:
    """Parse a sum such as ``sum:cider-d+spice``; None for other requests.

    Raises:
        ParameterError: a weight that is not a positive number, a metric twice, or a part that is not a request.
    """
    if not (isinstance(metric, str) and metric.strip().lower().startswith(SUM)):
        return None
    text = metric.strip()
    requests: list[str] = []
    weights: dict[str, float] = {}
    for piece in _PLUS.split(text[len(SUM) :]):
        match = _WEIGHTED.fullmatch(piece.strip())
        assert match is not None
        request = Request.from_text(match[2])
        part = request.label if catalogue.owner(request.name) else str(request)
        try:
            weight = float(match[1] or 1)
        except ValueError:
            weight = 0.0
        if not weight > 0:
            raise ParameterError(f"invalid weight {match[1]!r}", where=text, help="write sum:0.5*cider-d+2*spice")
        if part in weights:
            raise ParameterError(f"{part} is given twice", where=text, help="give it once, with a weight: 2*cider-d")
        weights[part] = weight
        requests.append(str(request))
    return MetricSum(text, tuple(requests), weights)


def summands(metric: str) -> list[str]:
    """Return the metrics of a sum; for another request, the request itself."""
    metric_sum = as_sum(metric)
    return [metric] if metric_sum is None else [*metric_sum.requests]


def split_sums(metrics: Metrics) -> tuple[Metrics, list[MetricSum], list[str]]:
    """Return the metrics with sums replaced by their parts; the sums; and the names of parts not requested."""
    requests = [metrics] if isinstance(metrics, str) else metrics
    if not isinstance(requests, list | tuple):
        return metrics, [], []
    read = [(metric, as_sum(metric)) for metric in requests]
    sums = [metric_sum for _, metric_sum in read if metric_sum]
    if not sums:
        return metrics, [], []
    plain = [metric for metric, metric_sum in read if metric_sum is None]
    requested = {label for metric in plain if isinstance(metric, str) for label in _labels(metric)}
    parts = {
        label: part for metric_sum in sums for label, part in zip(metric_sum.weights, metric_sum.requests, strict=True)
    }
    labels = [label for label in parts if label not in requested]
    return [*plain, *(parts[label] for label in labels)], sums, labels


def _labels(metric: str) -> list[str]:
    """Return the labels of the scores of a request."""
    request = Request.from_text(metric)
    owner = catalogue.owner(request.name)
    return [str(request)] if owner is None else [*request.output_indices(catalogue.get(owner).outputs)]
