"""Several metrics at once, ``aac_metrics.functional.evaluate``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any, TypeAlias

from captious.compat.aac_metrics.functional import left_out
from captious.compat.aac_metrics.functional.bleu import bleu, bleu_1, bleu_2, bleu_3, bleu_4
from captious.compat.aac_metrics.functional.cider_d import cider_d
from captious.compat.aac_metrics.functional.meteor import meteor
from captious.compat.aac_metrics.functional.rouge_l import rouge_l
from captious.compat.aac_metrics.functional.spice import spice
from captious.compat.aac_metrics.functional.spider import spider
from captious.compat.aac_metrics.inputs import check_metric_inputs
from captious.compat.aac_metrics.utils.tokenization import preprocess_mono_sents
from captious.errors import UnknownNameError

__all__ = [
    "DEFAULT_METRICS_SET_NAME",
    "METRICS",
    "METRICS_SETS",
    "dcase2023_evaluate",
    "dcase2024_evaluate",
    "evaluate",
]

Preprocess: TypeAlias = bool | Callable[[list[str]], list[str]]
Scores: TypeAlias = tuple[dict[str, Any], dict[str, Any]]

_BLEU = ("bleu_1", "bleu_2", "bleu_3", "bleu_4")
#: Names that stand for several metrics.
METRICS_SETS: Mapping[str, tuple[str, ...]] = {
    "default": (*_BLEU, "meteor", "rouge_l", "spider"),
    "dcase2020": (*_BLEU, "meteor", "rouge_l", "spider"),
    "dcase2023": ("meteor", "spider_fl"),
    "dcase2024": ("meteor", "spider_fl", "fense", "vocab"),
    "all": (*_BLEU, "meteor", "rouge_l", "fense", "spider_fl", "vocab", "bert_score", "mace"),
}
DEFAULT_METRICS_SET_NAME = "default"

#: The metrics by name.
METRICS: Mapping[str, Callable[..., Any]] = {
    "bleu": bleu,
    "bleu_1": bleu_1,
    "bleu_2": bleu_2,
    "bleu_3": bleu_3,
    "bleu_4": bleu_4,
    "cider_d": cider_d,
    "meteor": meteor,
    "rouge_l": rouge_l,
    "spice": spice,
    "spider": spider,
}


def evaluate(
    candidates: list[str],
    mult_references: list[list[str]],
    preprocess: Preprocess = True,
    metrics: str | Iterable[str] | Iterable[Callable[..., Any]] = DEFAULT_METRICS_SET_NAME,
    cache_path: object = None,
    java_path: object = None,
    tmp_path: object = None,
    device: object = "cuda_if_available",
    verbose: int = 0,
) -> Scores:
    """Score captions with several metrics.

    Args:
        candidates: one for each sound.
        mult_references: for each of them, its references.
        preprocess: True to cut captions into PTB tokens first, False to take them as they are, or a function from
            captions to captions.
        metrics: a name of ``METRICS`` or ``METRICS_SETS``, names of metrics, or functions or objects that return corpus
            scores and scores of sentences.
        cache_path, java_path, tmp_path, device, verbose: ignored.

    Returns:
        Corpus scores and scores of sentences, name -> tensor.

    Raises:
        ValueError: captions in another form.
        UnknownNameError: no such metric.
        ParameterError: a metric that captious leaves to its model.
        MissingExtraError: METEOR's tables are not installed.
    """
    check_metric_inputs(candidates, mult_references)
    scorers = [METRICS[name] if isinstance(name, str) else name for name in named(metrics)]
    candidates = _prepared(candidates, preprocess)
    texts = iter(_prepared([*chain.from_iterable(mult_references)], preprocess))
    mult_references = [[next(texts) for _ in group] for group in mult_references]
    corpus: dict[str, Any] = {}
    sents: dict[str, Any] = {}
    for scorer in scorers:
        of_corpus, of_sents = scorer(candidates, mult_references)
        corpus |= of_corpus
        sents |= of_sents
    return corpus, sents


def dcase2023_evaluate(
    candidates: list[str], mult_references: list[list[str]], preprocess: Preprocess = True, **ignored: Any
) -> Scores:
    """``evaluate`` with the metrics of DCASE 2023, which are not all in captious.

    Raises:
        ParameterError: SPIDEr-FL is left to its model.
    """
    return evaluate(candidates, mult_references, preprocess, "dcase2023")


def dcase2024_evaluate(
    candidates: list[str], mult_references: list[list[str]], preprocess: Preprocess = True, **ignored: Any
) -> Scores:
    """``evaluate`` with the metrics of DCASE 2024, which are not all in captious.

    Raises:
        ParameterError: SPIDEr-FL and FENSE are left to their models.
    """
    return evaluate(candidates, mult_references, preprocess, "dcase2024")


def named(metrics: str | Iterable[Any]) -> list[Any]:
    """The metrics that a name stands for; every name is one of ``METRICS``.

    Raises:
        UnknownNameError, ParameterError: as ``evaluate``.
    """
    found = [*METRICS_SETS.get(metrics, (metrics,))] if isinstance(metrics, str) else list(metrics)
    for name in found:
        if isinstance(name, str) and name in left_out.NAMES:
            raise left_out.left_out(name)
        if isinstance(name, str) and name not in METRICS:
            raise UnknownNameError(f"aac-metrics has no metric {name!r}", help=f"its metrics are {', '.join(METRICS)}")
        if not isinstance(name, str) and not callable(name):
            raise TypeError("Invalid argument type for metrics. (expected str, Iterable[str] or Iterable[Metric])")
    return found


def _prepared(texts: list[str], preprocess: Preprocess) -> list[str]:
    if callable(preprocess):
        return list(preprocess(texts))
    return preprocess_mono_sents(texts) if preprocess else texts
