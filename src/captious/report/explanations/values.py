"""Explanations as plain values for terminals, pages and JSON documents.

An explanation is the result of a metric's ``explain``. Its ``kind`` has a layout, see ``layouts.py``, which
``terminal.py`` draws for terminals, and ``assets/explanations`` for pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import BaseMetric
from captious.report.explanations.scene_layout import explained_rows
from captious.scenes.spice_explanation import SceneExplanation

#: Scripts that draw explanations in pages, in loading order.
SCRIPTS_FOLDER = "explanations"
SCRIPTS = ("elements.js", "scene_graphs.js", "templates.js", "linked_words.js", "blocks.js")


def explained_parts(metric: BaseMetric) -> list[BaseMetric]:
    """Return the metric, or the parts of a combined one, that explain a candidate by its references."""
    parts = metric.metrics if isinstance(metric, Combined) else [metric]
    return [part for part in parts if part.explanation and part.needs_references]


def explanation_name(part: BaseMetric, metric: BaseMetric, label: str) -> str:
    """Return the name on pages for explanations of a part of a metric; for the metric itself, with variant and
    parameters.

    Args:
        part: one of ``explained_parts``.
        metric: the metric.
        label: label of one of its results, such as ``captious-recall:language=de``.
    """
    if part is not metric:
        return part.name
    output = max((name for name in metric.outputs if label.startswith(name)), key=len, default="")
    return part.name + label[len(output) :]


def explanation_values(explanation: Any) -> dict[str, Any]:
    """Return an explanation as plain values; if it is a list, all explanations with the score and the index of the
    best.

    Args:
        explanation: the result of a metric's ``explain``: one object, or a list with one for each reference.
    """
    if not isinstance(explanation, Sequence):
        return asdict(explanation)
    best = best_reference(explanation)
    return {"score": explanation[best].score, "best": best, "references": [*map(asdict, explanation)]}


def drawn_values(explanation: Any) -> dict[str, Any]:
    """Return the values that pages draw, with the row of each tuple of scene graphs."""
    values = explanation_values(explanation)
    if isinstance(explanation, SceneExplanation):
        for side, rows in zip(("candidate", "references"), explained_rows(explanation), strict=True):
            values[side] = [{**fact, "row": row} for fact, row in zip(values[side], rows, strict=True)]
    return values


def kind_of(explanation: Any) -> str:
    """Return the kind of an explanation; see ``BaseMetric.explanation``."""
    kind: str = (explanation[0] if isinstance(explanation, Sequence) else explanation).kind
    return kind


def best_reference(explanations: Sequence[Any]) -> int:
    """Return the position of the explanation with the highest score, the first one in a tie."""
    return max(range(len(explanations)), key=lambda i: (explanations[i].score, -i))
