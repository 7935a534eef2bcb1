"""Scores of captions from metric names, metric objects and user-defined functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from captious.data import Captions
from captious.errors import ParameterError
from captious.evaluation import Report, Result, evaluate
from captious.metrics.contract.metric import BaseMetric, MeanMetric, State
from captious.metrics.contract.request import Selection, select
from captious.metrics.contract.settings import Settings
from captious.version import __version__

__all__ = [
    "MetricLike",
    "Metrics",
    "ScoreFunction",
    "all_warnings",
    "as_selection",
    "checked_scores",
    "function_name",
    "negated",
    "oriented",
    "refuse_constant",
    "score_captions",
    "sign_of",
]

#: A user-defined metric: candidates and their references to one score per candidate.
ScoreFunction: TypeAlias = Callable[[Sequence[str], Sequence[Sequence[str]]], ArrayLike]
_ROUNDING = 1e-12
#: What counts as a metric.
MetricLike: TypeAlias = str | BaseMetric | ScoreFunction
#: Metrics of a study: one, several, a selection, or None for the metrics of the COCO evaluation that can run here.
Metrics: TypeAlias = MetricLike | Iterable[MetricLike] | Selection | None


def score_captions(captions: Captions, selection: Selection, *, name: str = "captions") -> Report:
    """Scores of captions, in the order in which metrics are requested; the corpus score of a function is the mean.

    Args:
        captions: what is scored.
        selection: as ``as_selection`` makes it.
        name: what messages call the captions.

    Raises:
        ParameterError: scores that are not numbers, not finite, or not one per caption.
    """
    report = evaluate(captions, selection, system=name)
    items = [str(id) for id in captions.ids]
    for label, result in report.items():
        checked_scores(result.per_caption, items, where=f"{label} on {name}")
    return report


def as_selection(metrics: Metrics, settings: Settings | None = None, *, name: str = "captions") -> Selection:
    """Metrics ready to run, functions among them.

    Args:
        metrics: one or several, or a selection, which is returned as it is.
        settings: for metrics that are asked for by name.
        name: what messages call the captions.

    Raises:
        UnknownNameError: no such metric.
        ParameterError: no metric, one twice, or a setting that none of them uses.
    """
    if isinstance(metrics, Selection):
        return metrics
    if metrics is None:
        return select(None, settings)
    if isinstance(metrics, str | BaseMetric) or callable(metrics):
        metrics = [metrics]
    return select([_as_metric(item, name) for item in metrics], settings)


def all_warnings(reports: Iterable[Report]) -> list[str]:
    """The warnings of reports, each once."""
    return [*dict.fromkeys(warning for report in reports for warning in report.warnings)]


def oriented(result: Result) -> NDArray[np.float64]:
    """Caption scores, float64[n], of which higher is better: negated where the metric says that lower is better."""
    return sign_of(result) * result.per_caption


def sign_of(result: Result) -> float:
    """The number that scores are multiplied with so that higher is better, 1 or -1."""
    return -1.0 if result.lower_is_better else 1.0


def negated(lower_is_better: Iterable[str]) -> list[str]:
    """A sentence about the metrics whose scores were negated, if there are any."""
    labels = list(dict.fromkeys(lower_is_better))
    if not labels:
        return []
    return [
        f"Lower is better for {', '.join(labels)}: the scores were negated, so a positive value means agreement, as "
        "for the other metrics."
    ]


def checked_scores(values: ArrayLike, items: Sequence[str], *, where: str) -> NDArray[np.float64]:
    """One finite number for each item, or an error that says where.

    Raises:
        ParameterError: scores that are not numbers, not finite, or not as many as items.
    """
    array = _one_each(values, items, where=where)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ParameterError(
            f"scores that are not finite: {bad.size:,}",
            where=f"{where}; the first is {array[bad[0]]} for {items[bad[0]]}",
            help="a metric must give every caption a finite number",
        )
    return array


def refuse_constant(scores: NDArray[np.float64], *, where: str) -> None:
    """Refuse scores that are all the same, but for rounding: they say nothing about any caption.

    Raises:
        ParameterError: where, and what they are.
    """
    largest = float(np.abs(scores).max(initial=0.0))
    if np.ptp(scores) <= _ROUNDING * max(largest, 1.0):
        value = 0.0 if largest <= _ROUNDING else float(scores[0])
        raise ParameterError(
            f"all scores are {value:g}",
            where=where,
            help="a constant score cannot be correlated: remove this metric",
        )


def function_name(function: ScoreFunction) -> str:
    """What tables call a function.

    Raises:
        ParameterError: a lambda.
    """
    name = str(getattr(function, "__name__", type(function).__name__))
    if name == "<lambda>":
        raise ParameterError("a metric function needs a name", help="define it with def")
    return name


def _one_each(values: ArrayLike, items: Sequence[object], *, where: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"the scores are not numbers: {error}", where=where, help="give one number each"
        ) from error
    if array.shape != (len(items),):
        what = f"{len(array):,} scores" if array.ndim == 1 else f"scores of the shape {array.shape}"
        raise ParameterError(
            f"there are {what} for {len(items):,} items",
            where=where,
            help="give one score for each item, in their order; captious data items lists them",
        )
    return array


def _as_metric(item: Any, on: str) -> str | BaseMetric:
    """Make a metric from a function; everything else is left to ``select``, which refuses what is not a metric."""
    if isinstance(item, str | BaseMetric | type) or not callable(item):
        return cast("str | BaseMetric", item)
    return _function_metric(item, on)


def _function_metric(function: ScoreFunction, on: str) -> BaseMetric:
    """A function as a metric whose corpus score is the mean."""
    label = function_name(function)

    class FunctionMetric(MeanMetric):
        name = label

        def signatures(self, state: State | None = None) -> tuple[str, ...]:
            return (f"{label}|function|captious:{__version__}",)

        def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
            texts, at = captions.references.texts, captions.references.offsets.tolist()
            values = function(list(captions.candidates), [list(texts[a:b]) for a, b in pairwise(at)])
            return _one_each(values, captions.ids, where=f"{label} on {on}")

    return FunctionMetric()
