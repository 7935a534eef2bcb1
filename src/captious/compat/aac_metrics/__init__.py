"""aac-metrics without Java: stands in for aac-metrics 0.6, the toolkit of automated audio captioning.

    from captious.compat.aac_metrics import evaluate, Evaluate
    corpus_scores, sents_scores = evaluate(candidates, mult_references)

``captious.compat.install("aac_metrics")`` leads the toolkit's own paths here. Names, arguments, keys and tensors are
the toolkit's. Different on purpose:

- No process is started and no file written: ``cache_path``, ``java_path``, ``tmp_path``, ``java_max_memory``,
  ``timeout``, ``use_shell``, ``device`` and ``verbose`` are accepted and ignored.
- A line break in a caption is a space; the toolkit refuses it.
- METEOR is for English. SPICE's grammar is the best on this machine, as in ``captious.compat.pycocoevalcap``.
- FENSE, SPIDEr-FL and the other metrics on models of audio or text can be imported, and are an error when they are
  called: they belong to their models. So are ``vocab`` and ``spider_max``.

Needs torch.
"""

from __future__ import annotations

from typing import Any

from captious.compat.aac_metrics.classes.base import AACMetric
from captious.compat.aac_metrics.classes.bleu import BLEU, BLEU1, BLEU2, BLEU3, BLEU4
from captious.compat.aac_metrics.classes.cider_d import CIDErD
from captious.compat.aac_metrics.classes.evaluate import DCASE2023Evaluate, DCASE2024Evaluate, Evaluate, metrics_of
from captious.compat.aac_metrics.classes.left_out import (
    FENSE,
    FER,
    MACE,
    BERTScoreMRefs,
    CLAPSim,
    SBERTSim,
    SPIDErFL,
    SPIDErMax,
    Vocab,
)
from captious.compat.aac_metrics.classes.meteor import METEOR
from captious.compat.aac_metrics.classes.rouge_l import ROUGEL
from captious.compat.aac_metrics.classes.spice import SPICE
from captious.compat.aac_metrics.classes.spider import SPIDEr
from captious.compat.aac_metrics.functional.evaluate import (
    METRICS,
    dcase2023_evaluate,
    dcase2024_evaluate,
    evaluate,
)

__all__ = [
    "BLEU",
    "BLEU1",
    "BLEU2",
    "BLEU3",
    "BLEU4",
    "FENSE",
    "FER",
    "MACE",
    "METEOR",
    "ROUGEL",
    "SPICE",
    "AACMetric",
    "BERTScoreMRefs",
    "CIDErD",
    "CLAPSim",
    "DCASE2023Evaluate",
    "DCASE2024Evaluate",
    "Evaluate",
    "SBERTSim",
    "SPIDEr",
    "SPIDErFL",
    "SPIDErMax",
    "Vocab",
    "dcase2023_evaluate",
    "dcase2024_evaluate",
    "evaluate",
    "list_metrics_available",
    "load_metric",
]


def list_metrics_available() -> list[str]:
    """The names of metrics that ``load_metric`` and ``evaluate`` take."""
    return [*METRICS]


def load_metric(name: str, **kwargs: Any) -> AACMetric:
    """A metric by name.

    Args:
        name: "cider_d", "bleu_4", ...
        kwargs: arguments that the toolkit takes and captious has no use for, such as ``java_path``.

    Raises:
        UnknownNameError: no such metric.
        ParameterError: a metric that captious leaves to its model.
    """
    return metrics_of(name)[0]
