"""Manifest entries for explanations: which metrics have one, and the data that the page needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from captious.evaluation import Report
from captious.metrics.contract.metric import BaseMetric
from captious.progress import steps
from captious.report.explanations.layouts import layout_values
from captious.report.explanations.values import explained_parts, explanation_name
from captious.report.page.explanations import (
    cider_ngrams,
    coverage_matrices,
    meteor_alignments,
    spice_scenes,
    token_matches,
    wmd_transport,
    word_agreements,
)
from captious.report.page.explanations.explained import Explained

#: The function that packs the explanations of a kind.
_PACK: Mapping[str, Callable[[Any, Explained], dict[str, Any]]] = {
    "alignment": meteor_alignments.pack,
    "coverage": coverage_matrices.pack,
    "ngram-matches": token_matches.pack_ngrams,
    "ngram-weights": cider_ngrams.pack,
    "scene": spice_scenes.pack,
    "subsequences": token_matches.pack_subsequences,
    "transport": wmd_transport.pack,
    "words": word_agreements.pack,
}


def explanations_of(explained: Explained) -> dict[str, Any]:
    """Return tables of tokens, and one entry per metric that can be explained."""
    packed = []
    with steps(_explainable(explained.reports[0]), lambda labeled: f"explaining {labeled[0]}") as metrics:
        for label, metric, outputs in metrics:
            about = _PACK[metric.explanation](metric, explained)
            layout = layout_values(metric.explanation)
            packed.append({"label": label, "kind": metric.explanation, "layout": layout, "explains": outputs, **about})
    every = len(explained.rows) == explained.reports[0].n_images
    return {
        "rows": None if every else explained.columns.integers(explained.rows),
        "tables": [table.pack(explained.columns) for table in explained.tables.values()],
        "metrics": packed,
    }


def _explainable(report: Report) -> list[tuple[str, BaseMetric, list[str]]]:
    """Yield the metrics that can be explained: requested ones, and parts of combined ones.

    Each comes with its label and the outputs that it explains.
    """
    metrics: dict[str, tuple[str, BaseMetric, list[str]]] = {}
    for label, result in report.items():
        if "|references:cat-" in result.signature:
            continue
        metric = result.statistics.metric
        for part in explained_parts(metric):
            if part.explanation not in _PACK:
                continue
            name = explanation_name(part, metric, label)
            metrics.setdefault(part.signatures()[0], (name, part, []))[2].append(label)
    return [*metrics.values()]
