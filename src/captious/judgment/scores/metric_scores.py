"""Scores of captions from metric names, metric objects and user-defined functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from captious.data import Captions
from captious.errors import ParameterError
from captious.evaluation import Report, Result, evaluate
from captious.metrics.contract.selection import MetricLike, Selection, select
from captious.metrics.contract.settings import Settings
from captious.phrases import counted

_ROUNDING = 1e-12
#: Metrics of a study: one, several, a selection, or None for the metrics of the COCO evaluation that can run here.
Metrics: TypeAlias = MetricLike | Iterable[MetricLike] | Selection | None


def score_captions(captions: Captions, selection: Selection, *, name: str = "captions") -> Report:
    """Return scores of captions, in the order in which metrics are requested; the corpus score of a function is the
    mean.

    Args:
        captions: the captions.
        selection: the result of ``as_selection``.
        name: name of the captions in messages.

    Raises:
        ParameterError: scores that are not numbers, not finite, or not one per caption.
    """
    report = evaluate(captions, selection, system=name)
    items = [str(id) for id in captions.ids]
    for label, result in report.items():
        checked_scores(result.per_caption, items, where=f"{label} on {name}")
    return report


def as_selection(metrics: Metrics, settings: Settings | None = None) -> Selection:
    """Return a selection of metrics and functions.

    Args:
        metrics: one or several, or a selection, which is returned as it is.
        settings: settings of metrics requested by name.

    Raises:
        UnknownNameError: an unknown metric.
        ParameterError: no metric, a duplicate, or an unused setting.
    """
    if isinstance(metrics, Selection):
        return metrics
    return select(metrics, settings)


def all_warnings(reports: Iterable[Report]) -> list[str]:
    """Return the warnings of reports, each once."""
    return [*dict.fromkeys(warning for report in reports for warning in report.warnings)]


def oriented(result: Result) -> NDArray[np.float64]:
    """Return caption scores, float64[n], negated if lower is better."""
    return sign_of(result) * result.per_caption


def sign_of(result: Result) -> float:
    """Return the factor that makes higher scores better, 1 or -1."""
    return -1.0 if result.lower_is_better else 1.0


def negated(lower_is_better: Iterable[str]) -> list[str]:
    """Return a sentence about the metrics whose scores were negated, if there are any."""
    labels = list(dict.fromkeys(lower_is_better))
    if not labels:
        return []
    return [
        f"Lower is better for {', '.join(labels)}: the scores were negated, so a positive value means agreement, as "
        "for the other metrics."
    ]


def checked_scores(values: ArrayLike, items: Sequence[str], *, where: str) -> NDArray[np.float64]:
    """Check that there is one finite number for each item, and return them.

    Raises:
        ParameterError: scores that are not numbers, not finite, or of the wrong number.
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


def check_not_constant(scores: NDArray[np.float64], *, where: str) -> None:
    """Refuse scores that are all equal within rounding.

    Raises:
        ParameterError: names the place and the scores.
    """
    largest = float(np.abs(scores).max(initial=0.0))
    if np.ptp(scores) <= _ROUNDING * max(largest, 1.0):
        value = 0.0 if largest <= _ROUNDING else float(scores[0])
        raise ParameterError(
            f"all scores are {value:g}",
            where=where,
            help="a constant score cannot be correlated: remove this metric",
        )


def _one_each(values: ArrayLike, items: Sequence[object], *, where: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"the scores are not numbers: {error}", where=where, help="give one number each"
        ) from error
    if array.shape != (len(items),):
        what = counted(len(array), "score") if array.ndim == 1 else f"scores of the shape {array.shape}"
        raise ParameterError(
            f"there are {what} for {counted(len(items), 'item')}",
            where=where,
            help="give one score for each item, in their order; captious data items lists them",
        )
    return array
