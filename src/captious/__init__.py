"""Image caption metrics as published, with confidence intervals, comparisons and signatures.

    import captious
    report = captious.score(candidates, references, metrics=["bleu-4", "cider-d"])
    report["cider-d"].score, report["cider-d"].confidence_interval(), report["cider-d"].per_caption

Names are imported when they are first used, so that ``import captious`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from captious.version import __version__

if TYPE_CHECKING:
    from captious.data import Captions, References, load, read_references
    from captious.errors import CaptiousError, CaptiousWarning
    from captious.evaluation import Comparison, Report, compare, score
    from captious.judgment import Judgment, Study, judge
    from captious.metrics.bertscore import BertScore
    from captious.metrics.bleu import Bleu
    from captious.metrics.cider import Cider
    from captious.metrics.cider_d import CiderD
    from captious.metrics.clipscore import ClipScore
    from captious.metrics.contract.metric import MeanMetric, Metric
    from captious.metrics.contract.registry import register
    from captious.metrics.contract.settings import Settings
    from captious.metrics.hwcm import Hwcm
    from captious.metrics.meteor import Meteor
    from captious.metrics.mima import Mima
    from captious.metrics.mowe import Mowe
    from captious.metrics.ngram_precision import NgramPrecision
    from captious.metrics.refclipscore import RefClipScore
    from captious.metrics.rouge_l import RougeL
    from captious.metrics.rouge_n import RougeN
    from captious.metrics.rouge_s import RougeS
    from captious.metrics.shared.document_frequencies import DocumentFrequencies
    from captious.metrics.smurf import Smurf
    from captious.metrics.sparcs import Sparcs
    from captious.metrics.spice import Spice
    from captious.metrics.spider import Spider
    from captious.metrics.spurts import Spurts
    from captious.metrics.unigram_recall import UnigramRecall
    from captious.metrics.wembsim import Wembsim
    from captious.metrics.wmd import Wmd
    from captious.metrics.yi2020 import Yi2020
    from captious.metrics.yi2020_unigram import Yi2020Unigram
    from captious.models import Encoder, WordVectors
    from captious.text import Tokenizer, register_tokenizer

__all__ = [
    "BertScore",
    "Bleu",
    "Captions",
    "CaptiousError",
    "CaptiousWarning",
    "Cider",
    "CiderD",
    "ClipScore",
    "Comparison",
    "DocumentFrequencies",
    "Encoder",
    "Hwcm",
    "Judgment",
    "MeanMetric",
    "Meteor",
    "Metric",
    "Mima",
    "Mowe",
    "NgramPrecision",
    "RefClipScore",
    "References",
    "Report",
    "RougeL",
    "RougeN",
    "RougeS",
    "Settings",
    "Smurf",
    "Sparcs",
    "Spice",
    "Spider",
    "Spurts",
    "Study",
    "Tokenizer",
    "UnigramRecall",
    "Wembsim",
    "Wmd",
    "WordVectors",
    "Yi2020",
    "Yi2020Unigram",
    "__version__",
    "compare",
    "judge",
    "load",
    "read_references",
    "register",
    "register_tokenizer",
    "score",
]

_HOMES = {
    "BertScore": "metrics.bertscore",
    "Bleu": "metrics.bleu",
    "Captions": "data",
    "CaptiousError": "errors",
    "CaptiousWarning": "errors",
    "Cider": "metrics.cider",
    "CiderD": "metrics.cider_d",
    "ClipScore": "metrics.clipscore",
    "Comparison": "evaluation",
    "DocumentFrequencies": "metrics.shared.document_frequencies",
    "Encoder": "models",
    "Hwcm": "metrics.hwcm",
    "Judgment": "judgment",
    "MeanMetric": "metrics.contract.metric",
    "Meteor": "metrics.meteor",
    "Metric": "metrics.contract.metric",
    "Mima": "metrics.mima",
    "Mowe": "metrics.mowe",
    "NgramPrecision": "metrics.ngram_precision",
    "RefClipScore": "metrics.refclipscore",
    "References": "data",
    "Report": "evaluation",
    "RougeL": "metrics.rouge_l",
    "RougeN": "metrics.rouge_n",
    "RougeS": "metrics.rouge_s",
    "Settings": "metrics.contract.settings",
    "Smurf": "metrics.smurf",
    "Sparcs": "metrics.sparcs",
    "Spice": "metrics.spice",
    "Spider": "metrics.spider",
    "Spurts": "metrics.spurts",
    "Study": "judgment",
    "Tokenizer": "text",
    "UnigramRecall": "metrics.unigram_recall",
    "Wembsim": "metrics.wembsim",
    "Wmd": "metrics.wmd",
    "WordVectors": "models",
    "Yi2020": "metrics.yi2020",
    "Yi2020Unigram": "metrics.yi2020_unigram",
    "compare": "evaluation",
    "judge": "judgment",
    "load": "data",
    "read_references": "data",
    "register": "metrics.contract.registry",
    "register_tokenizer": "text",
    "score": "evaluation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'captious' has no attribute {name!r}")
    home = import_module(f"captious.{_HOMES[name]}")
    if _HOMES[name] in ("evaluation", "judgment"):
        import_module("captious.report")  # so that results know how to show themselves
    value = getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__]
