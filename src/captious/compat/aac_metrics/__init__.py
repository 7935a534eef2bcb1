"""aac-metrics without Java: a replacement of aac-metrics 0.6, the toolkit of automated audio captioning.

    from captious.compat.aac_metrics import evaluate, Evaluate
    corpus_scores, sents_scores = evaluate(candidates, mult_references)

``captious.compat.install("aac_metrics")`` redirects imports of the toolkit here. Names, arguments, keys and tensors are
the toolkit's; docs/drop-in.md lists intended differences. Needs torch.
"""

from __future__ import annotations

from typing import Any

from captious.compat.aac_metrics import metric_classes as classes_
from captious.compat.aac_metrics import metric_functions as functions
from captious.compat.aac_metrics.metric_classes import (
    CLASS_OF,
    CLASSES,
    METRICS,
    SETUP,
    AACMetric,
    DCASE2023Evaluate,
    DCASE2024Evaluate,
    Evaluate,
    dcase2023_evaluate,
    dcase2024_evaluate,
    evaluate,
    metrics_of,
)
from captious.compat.reexports import add_modules, by_name

__all__ = ["AACMetric", "DCASE2023Evaluate", "DCASE2024Evaluate", "Evaluate", *CLASSES, *SETUP]
__all__ += ["dcase2023_evaluate", "dcase2024_evaluate", "evaluate", "list_metrics_available", "load_metric"]

globals().update({**CLASSES, **SETUP})


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


def _of(module: object, *names: str) -> dict[str, object]:
    return {name: getattr(module, name) for name in names}


_BLEU = {name for name in CLASS_OF if name.startswith("bleu")}
_BLEU_FUNCTIONS = {name: function for name, function in functions.BY_NAME.items() if name in _BLEU}
_BLEU_CLASSES = {CLASS_OF[name].__name__: CLASS_OF[name] for name in sorted(_BLEU)}
_EVALUATE_CLASSES = by_name(DCASE2023Evaluate, DCASE2024Evaluate, Evaluate)
_EVALUATE_FUNCTIONS = by_name(dcase2023_evaluate, dcase2024_evaluate, evaluate)

add_modules(
    __name__,
    {
        "functional": {**functions.BY_NAME, **_EVALUATE_FUNCTIONS},
        "functional.bleu": _BLEU_FUNCTIONS,
        "functional.evaluate": {**_of(classes_, "DEFAULT_METRICS_SET_NAME", "METRICS_SETS"), **_EVALUATE_FUNCTIONS},
        "functional.mult_cands": _of(functions, "mult_cands_metric"),
        **{f"functional.{name}": {name: function} for name, function in functions.BY_NAME.items() if name not in _BLEU},
        "classes": {"AACMetric": AACMetric, **CLASSES, **_EVALUATE_CLASSES},
        "classes.base": by_name(AACMetric),
        "classes.bleu": _BLEU_CLASSES,
        "classes.evaluate": _EVALUATE_CLASSES,
        **{f"classes.{name}": by_name(cls) for name, cls in CLASS_OF.items() if name not in _BLEU},
        "download": _of(classes_, "download_metrics"),
        "utils.checks": {
            **_of(classes_, "check_java_path"),
            **_of(functions, "check_metric_inputs", "is_mono_sents", "is_mult_sents"),
        },
        "utils.globals": SETUP,
        "utils.tokenization": _of(
            functions, "PTB_PUNCTUATIONS", "preprocess_mono_sents", "preprocess_mult_sents", "ptb_tokenize_batch"
        ),
    },
)
