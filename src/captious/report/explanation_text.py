"""Explanations of all metrics as text: what ``explain`` of a metric returns, drawn for terminals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

from rich.console import Group, RenderableType

from captious.report.alignment_text import AlignmentPicture
from captious.report.coverage_text import coverage_text
from captious.report.explanations import best_reference, kind_of
from captious.report.ngram_texts import ngram_matches_text, ngram_weights_text, subsequence_text
from captious.report.scene_text import scene_text
from captious.report.word_texts import agreement_text, mentions_text, transport_legend, transport_text

__all__ = ["explanation_text"]

_TEXTS: Mapping[str, Callable[[Any], RenderableType]] = {
    "coverage": coverage_text,
    "mentions": mentions_text,
    "ngram-matches": ngram_matches_text,
    "ngram-weights": ngram_weights_text,
    "scene": scene_text,
    "subsequences": subsequence_text,
    "words": agreement_text,
}
#: Of explanations for each reference, the text of one and the legend of all.
_TEXTS_OF_REFERENCES: Mapping[str, tuple[Any, Any]] = {
    "alignment": (AlignmentPicture, AlignmentPicture.legend),
    "transport": (transport_text, transport_legend),
}


def explanation_text(explanation: Any) -> RenderableType:
    """An explanation, or those for each reference.

    Args:
        explanation: what ``explain`` of a metric returned: one object, or a list with one for each reference.
    """
    kind = kind_of(explanation)
    if kind in _TEXTS:
        return _TEXTS[kind](explanation)
    show, legend = _TEXTS_OF_REFERENCES[kind]
    best = best_reference(explanation) if len(explanation) > 1 else None
    pictures = [(show(of_reference, best=i == best), "") for i, of_reference in enumerate(explanation)]
    return Group(*chain(*pictures), legend(explanation))
