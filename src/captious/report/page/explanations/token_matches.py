"""BLEU and ROUGE-L: n-grams and common subsequences, which the page computes from the tokens of captions."""

from __future__ import annotations

from typing import Any

from captious.metrics.bleu import Bleu
from captious.metrics.rouge_l import RougeL
from captious.report.page.explanations.explained import Explained
from captious.text import TokenLayer, WordLayer


def pack_ngrams(metric: Bleu, explained: Explained) -> dict[str, Any]:
    """Pack the words of captions, and the smoothing of counts."""
    number, _ = explained.tokens(WordLayer(metric.tokenizer))
    return {"table": number, "added": metric.added}


def pack_subsequences(metric: RougeL, explained: Explained) -> dict[str, Any]:
    """Pack the tokens of captions, and the F-measure."""
    number, _ = explained.tokens(TokenLayer(metric.tokenizer))
    return {"table": number, "beta": metric.beta, "separately": metric.variant == "official"}
