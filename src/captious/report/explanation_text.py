"""Explanations of all metrics as text: what ``explain`` of a metric returns, drawn for terminals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from rich.console import Group, RenderableType

from captious.learned.caption_agreement import Agreement
from captious.metrics.chair import Mentions
from captious.metrics.meteor import Alignment
from captious.metrics.shared.word_explanations import NgramExplanation, SubsequenceExplanation
from captious.metrics.wmd import Transport
from captious.report.alignment_text import AlignmentPicture
from captious.report.ngram_texts import ngram_text, subsequence_text
from captious.report.scene_text import scene_text
from captious.report.word_texts import agreement_text, mentions_text, transport_legend, transport_text
from captious.scenes.spice_explanation import SceneExplanation

__all__ = ["best_reference", "explanation_text"]

_TEXTS: Mapping[type, Callable[[Any], RenderableType]] = {
    Agreement: agreement_text,
    Mentions: mentions_text,
    NgramExplanation: ngram_text,
    SceneExplanation: scene_text,
    SubsequenceExplanation: subsequence_text,
}


def explanation_text(explanation: Any) -> RenderableType:
    """An explanation, or those for each reference.

    Args:
        explanation: what ``explain`` of a metric returned: one object, or a list with one for each reference.
    """
    if not isinstance(explanation, Sequence):
        return _TEXTS[type(explanation)](explanation)
    is_alignment = isinstance(explanation[0], Alignment)
    assert is_alignment or isinstance(explanation[0], Transport)
    show: Any = AlignmentPicture if is_alignment else transport_text
    legend: Any = AlignmentPicture.legend if is_alignment else transport_legend
    best = best_reference(explanation) if len(explanation) > 1 else None
    pictures = [(show(of_reference, best=i == best), "") for i, of_reference in enumerate(explanation)]
    return Group(*chain(*pictures), legend(explanation))


def best_reference(explanations: Sequence[Any]) -> int:
    """The position of the explanation with the highest score, the first one in a tie."""
    return max(range(len(explanations)), key=lambda i: (explanations[i].score, -i))
