"""aac-metrics without Java: a replacement of aac-metrics 0.6, the toolkit of automated audio captioning.

    from captious.compat.aac_metrics import evaluate, Evaluate
    corpus_scores, sents_scores = evaluate(candidates, mult_references)

``captious.compat.install("aac_metrics")`` redirects imports of the toolkit here. Names, arguments, keys and tensors are
the toolkit's; docs/drop-in.md lists intended differences. Needs torch.
"""

from __future__ import annotations

from typing import Any

from captious.compat.aac_metrics import metric_functions as functions
from captious.compat.aac_metrics.metric_classes import (
    BLEU,
    BLEU1,
    BLEU2,
    BLEU3,
    BLEU4,
    DEFAULT_METRICS_SET_NAME,
    FENSE,
    FER,
    MACE,
    METEOR,
    METRICS,
    METRICS_SETS,
    ROUGEL,
    SETUP,
    SPICE,
    AACMetric,
    BERTScoreMRefs,
    CIDErD,
    CLAPSim,
    DCASE2023Evaluate,
    DCASE2024Evaluate,
    Evaluate,
    SBERTSim,
    SPIDEr,
    SPIDErFL,
    SPIDErMax,
    Vocab,
    check_java_path,
    dcase2023_evaluate,
    dcase2024_evaluate,
    download_metrics,
    duplicate_list,
    evaluate,
    metrics_of,
)
from captious.compat.aac_metrics.metric_functions import (
    PTB_PUNCTUATIONS,
    bert_score_mrefs,
    check_metric_inputs,
    fense,
    fer,
    is_mono_sents,
    is_mult_sents,
    mult_cands_metric,
    preprocess_mono_sents,
    preprocess_mult_sents,
    ptb_tokenize_batch,
    sbert_sim,
    spider_fl,
    spider_max,
)
from captious.compat.reexports import add_modules, by_name

__all__ = ["BLEU", "BLEU1", "BLEU2", "BLEU3", "BLEU4", "FENSE", "FER", "MACE", "METEOR", "ROUGEL", "SPICE", "AACMetric"]
__all__ += ["BERTScoreMRefs", "CIDErD", "CLAPSim", "DCASE2023Evaluate", "DCASE2024Evaluate", "Evaluate", "SBERTSim"]
__all__ += ["SPIDEr", "SPIDErFL", "SPIDErMax", "Vocab", "dcase2023_evaluate", "dcase2024_evaluate", "evaluate"]
__all__ += ["list_metrics_available", "load_metric", *SETUP]

globals().update(SETUP)


def list_metrics_available() -> list[str]:
    """Return the names of metrics that ``load_metric`` and ``evaluate`` accept."""
    return [*METRICS]


def load_metric(name: str, **kwargs: Any) -> AACMetric:
    """Return a metric by name.

    Args:
        name: "cider_d", "bleu_4", ...
        kwargs: arguments of the toolkit, including those that captious ignores, such as ``java_path``.

    Raises:
        UnknownNameError: an unknown metric.
        ParameterError: a model-based metric that captious does not provide.
    """
    return metrics_of(name)[0]


_BLEU_FUNCTIONS = by_name(functions.bleu, functions.bleu_1, functions.bleu_2, functions.bleu_3, functions.bleu_4)
_BLEU_CLASSES = by_name(BLEU, BLEU1, BLEU2, BLEU3, BLEU4)
_EVALUATE_FUNCTIONS = by_name(dcase2023_evaluate, dcase2024_evaluate, evaluate)
_EVALUATE_CLASSES = by_name(DCASE2023Evaluate, DCASE2024Evaluate, Evaluate)
#: Modules with one metric -> its class; the function has the module's name.
_CLASSES = {
    "bert_score_mrefs": BERTScoreMRefs,
    "cider_d": CIDErD,
    "clap_sim": CLAPSim,
    "fense": FENSE,
    "fer": FER,
    "mace": MACE,
    "meteor": METEOR,
    "rouge_l": ROUGEL,
    "sbert_sim": SBERTSim,
    "spice": SPICE,
    "spider": SPIDEr,
    "spider_fl": SPIDErFL,
    "spider_max": SPIDErMax,
    "vocab": Vocab,
}
_ELSEWHERE = by_name(bert_score_mrefs, fense, fer, sbert_sim, spider_fl, spider_max)
_FUNCTIONS = {name: _ELSEWHERE.get(name) or getattr(functions, name) for name in _CLASSES}

add_modules(
    __name__,
    {
        "functional": {**_BLEU_FUNCTIONS, **_EVALUATE_FUNCTIONS, **_FUNCTIONS},
        "functional.bleu": _BLEU_FUNCTIONS,
        "functional.evaluate": {
            "DEFAULT_METRICS_SET_NAME": DEFAULT_METRICS_SET_NAME,
            "METRICS_SETS": METRICS_SETS,
            **_EVALUATE_FUNCTIONS,
        },
        **{f"functional.{name}": {name: function} for name, function in _FUNCTIONS.items()},
        "classes": by_name(AACMetric, *_BLEU_CLASSES.values(), *_EVALUATE_CLASSES.values(), *_CLASSES.values()),
        "classes.base": by_name(AACMetric),
        "classes.bleu": _BLEU_CLASSES,
        "classes.evaluate": _EVALUATE_CLASSES,
        **{f"classes.{name}": by_name(class_) for name, class_ in _CLASSES.items()},
        "functional.mult_cands": by_name(mult_cands_metric),
        "download": by_name(download_metrics),
        "utils": {},
        "utils.checks": by_name(check_java_path, check_metric_inputs, is_mono_sents, is_mult_sents),
        "utils.collections": by_name(duplicate_list),
        "utils.globals": SETUP,
        "utils.tokenization": {
            "PTB_PUNCTUATIONS": PTB_PUNCTUATIONS,
            **by_name(preprocess_mono_sents, preprocess_mult_sents, ptb_tokenize_batch),
        },
    },
)
