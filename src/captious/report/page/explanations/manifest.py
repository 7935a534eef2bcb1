"""What the manifest of a page says about explanations: which metrics have one, and what the page needs for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from captious.evaluation import Report
from captious.metrics.cider import Cider
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import BaseMetric
from captious.metrics.meteor import Meteor
from captious.metrics.spice import Spice
from captious.metrics.wmd import Wmd
from captious.progress import steps
from captious.report.page.explanations import cider_ngrams, meteor_alignments, spice_scenes, wmd_transport
from captious.report.page.explanations.explained import Explained

__all__ = ["explanations_of"]

#: What packs the explanation of a metric and of those that derive from it.
_PACK: Mapping[type[BaseMetric], Callable[[Any, Explained], dict[str, Any]]] = {
    Meteor: meteor_alignments.pack,
    Spice: spice_scenes.pack,
    Cider: cider_ngrams.pack,
    Wmd: wmd_transport.pack,
}


def explanations_of(explained: Explained) -> dict[str, Any]:
    """Tables of tokens, and one entry per metric that can be explained."""
    packed = []
    with steps(_explainable(explained.reports[0]), lambda labeled: f"explaining {labeled[0]}") as metrics:
        for label, metric, outputs in metrics:
            pack = next(pack for kind, pack in _PACK.items() if isinstance(metric, kind))
            packed.append({"label": label, "explains": outputs, **pack(metric, explained)})
    every = len(explained.rows) == explained.reports[0].n_images
    return {
        "rows": None if every else explained.columns.integers(explained.rows),
        "tables": [table.pack(explained.columns) for table in explained.tables.values()],
        "metrics": packed,
    }


def _explainable(report: Report) -> list[tuple[str, BaseMetric, list[str]]]:
    """Metrics that can be explained: those that were requested, and parts of combined ones.

    Of each its label, the metric, and the outputs that it explains.
    """
    metrics: dict[str, tuple[str, BaseMetric, list[str]]] = {}
    for label, result in report.items():
        if "|references:cat-" in result.signature:
            continue
        metric = result.statistics.metric
        for part in metric.metrics if isinstance(metric, Combined) else [metric]:
            if isinstance(part, tuple(_PACK)):
                named = label if part is metric else part.name
                metrics.setdefault(part.signatures()[0], (named, part, []))[2].append(label)
    return [*metrics.values()]
