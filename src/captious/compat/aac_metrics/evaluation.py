"""Evaluation with several metrics: ``functional.evaluate`` and ``classes.evaluate`` of the toolkit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, TypeAlias

from captious.compat.aac_metrics import metric_classes as classes
from captious.compat.aac_metrics import metric_functions as functions
from captious.compat.aac_metrics.inputs import check_metric_inputs
from captious.compat.aac_metrics.tokenization import preprocess_mono_sents
from captious.errors import UnknownNameError

__all__ = ["DEFAULT_METRICS_SET_NAME", "METRICS", "METRICS_SETS", "DCASE2023Evaluate", "DCASE2024Evaluate", "Evaluate"]
__all__ += ["dcase2023_evaluate", "dcase2024_evaluate", "evaluate", "metrics_of"]

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
METRICS: Mapping[str, type[classes.AACMetric]] = {
    "bert_score": classes.BERTScoreMRefs,
    "bleu": classes.BLEU,
    "bleu_1": classes.BLEU1,
    "bleu_2": classes.BLEU2,
    "bleu_3": classes.BLEU3,
    "bleu_4": classes.BLEU4,
    "cider_d": classes.CIDErD,
    "fense": classes.FENSE,
    "fer": classes.FER,
    "meteor": classes.METEOR,
    "rouge_l": classes.ROUGEL,
    "sbert_sim": classes.SBERTSim,
    "spice": classes.SPICE,
    "spider": classes.SPIDEr,
    "spider_fl": classes.SPIDErFL,
}

#: The metrics that take a device.
_MODEL_METRICS = ("bert_score", "fense", "fer", "sbert_sim", "spider_fl")


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
        candidates: one for each recording.
        mult_references: the references of each.
        preprocess: True to tokenize captions with the PTB tokenizer, False to use them as they are, or a function from
            captions to captions.
        metrics: a name of ``METRICS`` or ``METRICS_SETS``, names of metrics, or functions or objects that return corpus
            scores and scores of sentences.
        device: device of models, "cuda_if_available" for a GPU if there is one.
        cache_path, java_path, tmp_path, verbose: ignored.

    Returns:
        Corpus scores and scores of sentences, name -> tensor.

    Raises:
        ValueError: captions in another form.
        UnknownNameError: an unknown metric.
        ParameterError: a model-based metric that captious does not provide.
        MissingExtraError: METEOR's tables, or the requirements of a model, are not installed.
        ResourceError: a model that cannot be found or read.
    """
    check_metric_inputs(candidates, mult_references)
    scorers = metrics_of(metrics, device)
    candidates = _preprocessed(candidates, preprocess)
    texts = iter(_preprocessed([*chain.from_iterable(mult_references)], preprocess))
    mult_references = [[next(texts) for _ in group] for group in mult_references]
    corpus: dict[str, Any] = {}
    sents: dict[str, Any] = {}
    for scorer in scorers:
        of_corpus, of_sents = scorer(candidates, mult_references)
        corpus |= of_corpus
        sents |= of_sents
    return corpus, sents


def dcase2023_evaluate(
    candidates: list[str], mult_references: list[list[str]], preprocess: Preprocess = True, **options: Any
) -> Scores:
    """Call ``evaluate`` with the metrics of DCASE 2023, METEOR and SPIDEr-FL; options are its further arguments."""
    return evaluate(candidates, mult_references, preprocess, "dcase2023", **options)


def dcase2024_evaluate(
    candidates: list[str], mult_references: list[list[str]], preprocess: Preprocess = True, **ignored: Any
) -> Scores:
    """Call ``evaluate`` with the metrics of DCASE 2024: always a ParameterError, as ``vocab`` is not supported."""
    return evaluate(candidates, mult_references, preprocess, "dcase2024")


class Evaluate(classes.KeptCaptions):
    """``evaluate`` for captions added in batches; a sequence of its metrics.

    Args:
        preprocess, metrics, device: as for ``evaluate``.
        cache_path, java_path, tmp_path, verbose: ignored.
    """

    def __init__(
        self,
        preprocess: Preprocess = True,
        metrics: str | Iterable[str] | Iterable[classes.AACMetric] = DEFAULT_METRICS_SET_NAME,
        cache_path: object = None,
        java_path: object = None,
        tmp_path: object = None,
        device: object = "cuda_if_available",
        verbose: int = 0,
    ) -> None:
        super().__init__()
        self._preprocess = preprocess
        self._metrics = metrics_of(metrics, device)

    def compute(self) -> Scores:
        """Return corpus scores and scores of sentences of all captions added so far, name -> tensor."""
        return evaluate(self._candidates, self._mult_references, self._preprocess, self._metrics)

    def tolist(self) -> list[classes.AACMetric]:
        """Return the metrics."""
        return list(self._metrics)

    def __iter__(self) -> Iterator[classes.AACMetric]:
        return iter(self._metrics)

    def __len__(self) -> int:
        """Return the number of metrics."""
        return len(self._metrics)

    def __getitem__(self, index: int) -> classes.AACMetric:
        return self._metrics[index]


class DCASE2023Evaluate(Evaluate):
    """The metrics of DCASE 2023, METEOR and SPIDEr-FL."""

    def __init__(self, preprocess: Preprocess = True, **options: Any) -> None:
        super().__init__(preprocess, "dcase2023", **options)


class DCASE2024Evaluate(Evaluate):
    """The metrics of DCASE 2024: an error, as in ``dcase2024_evaluate``."""

    def __init__(self, preprocess: Preprocess = True, **ignored: Any) -> None:
        super().__init__(preprocess, "dcase2024")


def metrics_of(metrics: str | Iterable[Any], device: object = "cuda_if_available") -> list[classes.AACMetric]:
    """Return the metrics with these names, as objects; it raises the errors of ``evaluate``."""
    return [
        METRICS[metric](**({"device": device} if metric in _MODEL_METRICS else {}))
        if isinstance(metric, str)
        else metric
        for metric in _members(metrics)
    ]


def _members(metrics: str | Iterable[Any]) -> list[Any]:
    """Return the metrics of a set, checked."""
    members = [*METRICS_SETS.get(metrics, (metrics,))] if isinstance(metrics, str) else list(metrics)
    for metric in members:
        if isinstance(metric, str) and metric in functions.UNSUPPORTED:
            raise functions.unsupported(metric)
        if isinstance(metric, str) and metric not in METRICS:
            raise UnknownNameError(
                f"aac-metrics has no metric {metric!r}", help=f"its metrics are {', '.join(METRICS)}"
            )
        if not isinstance(metric, str) and not callable(metric):
            raise TypeError("Invalid argument type for metrics. (expected str, Iterable[str] or Iterable[Metric])")
    return members


def _preprocessed(texts: list[str], preprocess: Preprocess) -> list[str]:
    if callable(preprocess):
        return list(preprocess(texts))
    return preprocess_mono_sents(texts) if preprocess else texts
