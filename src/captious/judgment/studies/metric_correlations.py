"""Correlations between metrics, and with human judgments, on a benchmark.

Sharif et al. 2020 (WEmbSim), figure 8.4, shows them as a heat map.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError
from captious.judgment.correlation import STATISTICS, correlation
from captious.judgment.human_judgments import CaptionPairs, HumanJudgments
from captious.judgment.protocols import PEOPLE
from captious.judgment.scores.metric_scores import Metrics, as_selection, negated, oriented, score_captions
from captious.judgment.scores.metric_sums import split_sums
from captious.judgment.studies.shared.study_sources import judged_captions
from captious.judgment.study_result import Matrix, Study
from captious.metrics.contract.settings import Settings


def metric_correlations(
    benchmark: str | os.PathLike[str] | HumanJudgments,
    metrics: Metrics = None,
    *,
    settings: Settings | None = None,
    statistic: str = "pearson",
    data: str | os.PathLike[str] | None = None,
) -> Study:
    """Return correlations between all pairs of metrics, and with human judgments.

    Points are ratings, as in ``judge``: a caption that several people rated one by one counts once per rating. For
    pairs of captions, points are the pairs in both orders: the difference of two scores, and the human preference.

    Args:
        benchmark: a benchmark of captions, as for ``judge``.
        statistic: correlation statistic: kendall-tau-b, kendall-tau-c, spearman or pearson.
        metrics, settings, data: as for ``judge``; the parts of a sum have rows, too.

    Returns:
        A symmetric table with one record per metric and one for people; a correlation with a constant is None.

    Raises:
        ParameterError: an unknown statistic, or a benchmark of systems.
        Others as ``judge``.
    """
    check_statistic(statistic)
    judgments = judged_captions(benchmark, data)
    name = judgments.protocol.full_name
    with_parts, sums, _ = split_sums(metrics)
    selection = as_selection(with_parts, settings)
    report = score_captions(judgments.captions, selection, name=name)
    points = {label: oriented(result) for label, result in report.items()}
    points |= {metric_sum.label: metric_sum.total(points) for metric_sum in sums}
    signatures = {label: result.signature for label, result in report.items()}
    signatures |= {metric_sum.label: metric_sum.signature(signatures) for metric_sum in sums}
    if isinstance(judgments, CaptionPairs):
        margins = {label: -np.diff(judgments.of_pairs(scores))[:, 0] for label, scores in points.items()}
        margins[PEOPLE] = np.where(judgments.preferred == 0, 1.0, -1.0)
        points = {label: np.concatenate([margin, -margin]) for label, margin in margins.items()}  # in both orders
        of = "pairs"
    else:
        counts = [len(of_caption) for of_caption in judgments.ratings]
        points = {label: np.repeat(scores, counts) for label, scores in points.items()}
        points[PEOPLE] = np.concatenate(judgments.ratings)
        of = "ratings"
    records, matrix = correlations(points, statistic)
    title = f"Correlations between metrics and with human judgments: {name}, {statistic} over {judgments.n:,} {of}"
    return Study(
        "metrics",
        title,
        ("metric", *points),
        [{"metric": label, **record} for label, record in records.items()],
        signatures,
        dict(judgments.data),
        {"statistic": statistic},
        notes=negated(selection.lower_is_better),
        warnings=report.warnings,
        pictures={"metrics": Matrix(f"{name}, {statistic}", list(points), matrix)},
    )


def correlations(
    points: Mapping[str, NDArray[np.float64]], statistic: str
) -> tuple[dict[str, dict[str, float | None]], NDArray[np.float64]]:
    """Return correlations of all pairs: label -> label -> value, None if undefined; and the same as an array."""
    labels = list(points)
    matrix = np.eye(len(labels))
    for i, a in enumerate(labels):
        for j in range(i):
            matrix[i, j] = matrix[j, i] = correlation(statistic, points[a], points[labels[j]])
    records = {
        a: {b: None if np.isnan(value) else float(value) for b, value in zip(labels, row, strict=True)}
        for a, row in zip(labels, matrix, strict=True)
    }
    return records, matrix


def check_statistic(statistic: str) -> None:
    """Check that a statistic is a correlation.

    Raises:
        ParameterError: it is not.
    """
    if statistic not in STATISTICS:
        raise ParameterError(f"there is no correlation {statistic!r}", help=f"available: {', '.join(STATISTICS)}")
