"""The module ``aac_metrics.classes``: metrics as ``torch.nn.Module``, evaluation with several, and setup functions."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, partialmethod
from itertools import chain
from typing import Any, ClassVar, TypeAlias, TypeVar

import torch

from captious.compat.aac_metrics import metric_functions as functions
from captious.compat.aac_metrics.metric_functions import check_metric_inputs, preprocess_mono_sents
from captious.errors import UnknownNameError

# The metrics of ``aac_metrics.classes``, as ``torch.nn.Module``: they keep captions until ``compute``.


class AACMetric(torch.nn.Module):
    """A metric with ``update``, ``compute`` and ``reset``; calling it does all three."""

    full_state_update: ClassVar[bool | None] = False
    higher_is_better: ClassVar[bool | None] = None
    is_differentiable: ClassVar[bool | None] = False
    min_value: ClassVar[float] = -float("inf")
    max_value: ClassVar[float] = float("inf")

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Add captions."""

    def compute(self) -> Any:
        """Return the scores of all captions added so far."""

    def reset(self) -> None:
        """Remove all captions."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the scores of these captions and those added before, and remove them all."""
        self.update(*args, **kwargs)
        scores = self.compute()
        self.reset()
        return scores


class KeptCaptions(AACMetric):
    """A metric that keeps captions."""

    def __init__(self) -> None:
        super().__init__()
        self.reset()

    def update(self, candidates: list[str], mult_references: list[list[str]]) -> None:
        """Add captions."""
        self._candidates += candidates
        self._mult_references += mult_references

    def reset(self) -> None:
        """Remove all captions."""
        self._candidates: list[str] = []
        self._mult_references: list[list[str]] = []


class _FunctionMetric(KeptCaptions):
    """A metric that is a function of ``metric_functions``.

    Args:
        return_all_scores: whether to return the scores of sentences, too.
        options: further arguments of the function.
    """

    higher_is_better = True
    min_value = 0.0
    max_value = 1.0

    _function: ClassVar[Callable[..., Any]]
    #: Names of the scores.
    _names: tuple[str, ...]

    def __init__(self, return_all_scores: bool = True, **options: Any) -> None:
        super().__init__()
        self._options = {"return_all_scores": return_all_scores, **options}

    def update(self, candidates: list[str], mult_references: list[list[str]]) -> None:
        """Add captions.

        Raises:
            ValueError: not a list of candidates and a list of lists of references.
        """
        check_metric_inputs(candidates, mult_references)
        super().update(candidates, mult_references)

    def compute(self) -> Any:
        """Return the result of the function for all captions added so far."""
        return type(self)._function(self._candidates, self._mult_references, **self._options)

    def get_output_names(self) -> tuple[str, ...]:
        """Return the names of the scores."""
        return self._names


class BLEU(_FunctionMetric):
    """BLEU of order n."""

    _function = functions.bleu

    def __init__(self, return_all_scores: bool = True, *, n: int = 4, **options: Any) -> None:
        super().__init__(return_all_scores, n=n, **options)
        self._names = (f"bleu_{n}",)


class SPIDErMax(_FunctionMetric):
    """SPIDEr of the best of several candidates."""

    max_value = 5.5
    _function, _names = functions.BY_NAME["spider_max"], ("cider_d_max", "spice_max", "spider_max")

    def update(self, mult_candidates: list[list[str]], mult_references: list[list[str]]) -> None:  # type: ignore[override]
        """Add captions, several candidates for each recording."""
        self._candidates += mult_candidates  # type: ignore[arg-type]
        self._mult_references += mult_references


class _WithDetector(_FunctionMetric):
    """A metric with an error detector, which is looked up on construction."""

    _with_probs: ClassVar[bool] = False

    def __init__(self, return_all_scores: bool = True, *, echecker: Any = functions.DETECTOR, **options: Any) -> None:
        super().__init__(return_all_scores, echecker=functions.detector_of(echecker), **options)
        if options.get("return_probs", self._with_probs):
            self._names = (*self._names, *functions.PROBABILITIES)


class FER(_WithDetector):
    """Fluency error rate; it takes candidates and ignores references."""

    higher_is_better = False
    _names = ("fer",)

    def update(self, candidates: list[str], *ignored: Any, **ignored_too: Any) -> None:
        """Add candidates."""
        self._candidates += candidates

    def compute(self) -> Any:
        """Return the result of the function for all candidates added so far."""
        return functions.fer(self._candidates, **self._options)


_SPIDER = ("cider_d", "spice", "spider")


def _unsupported(self: AACMetric, metric: str, *arguments: Any, **options: Any) -> None:
    """Raise ParameterError: captious does not have this metric."""
    functions.unsupported(metric)


_Row: TypeAlias = tuple[str, type[AACMetric], dict[str, Any]]
#: Function of ``metric_functions`` -> the name of its class, a base, and what else the class has.
_ROWS: dict[str, _Row] = {
    "bert_score_mrefs": ("BERTScoreMRefs", _FunctionMetric, {"_names": functions.NAMES}),
    **{f"bleu_{n}": (f"BLEU{n}", BLEU, {"__init__": partialmethod(BLEU.__init__, n=n)}) for n in (1, 2, 3, 4)},
    "cider_d": ("CIDErD", _FunctionMetric, {"max_value": 10.0}),
    "fense": ("FENSE", _WithDetector, {"_names": ("sbert_sim", "fer", "fense"), "min_value": -1.0}),
    "meteor": ("METEOR", _FunctionMetric, {}),
    "rouge_l": ("ROUGEL", _FunctionMetric, {}),
    "sbert_sim": ("SBERTSim", _FunctionMetric, {"min_value": -1.0}),
    "spice": ("SPICE", _FunctionMetric, {}),
    "spider": ("SPIDEr", _FunctionMetric, {"_names": _SPIDER, "max_value": 5.5}),
    "spider_fl": (
        "SPIDErFL",
        _WithDetector,
        {"_names": (*_SPIDER, "spider_fl", "fer"), "max_value": 5.5, "_with_probs": True},
    ),
    **{
        metric: (name, AACMetric, {"__init__": partialmethod(_unsupported, metric)})
        for metric, name in (("clap_sim", "CLAPSim"), ("mace", "MACE"), ("vocab", "Vocab"))
    },
}


def _made(function: str, row: _Row) -> type[AACMetric]:
    name, base, attributes = row
    contents = {"_function": functions.BY_NAME[function], "_names": (function,), **attributes, "__module__": __name__}
    return type(name, (base,), {**contents, "__doc__": f"``{function}`` as a metric that keeps captions."})


#: The class of every function.
CLASS_OF: dict[str, type[AACMetric]] = {
    **{"bleu": BLEU, "fer": FER, "spider_max": SPIDErMax},
    **{function: _made(function, row) for function, row in _ROWS.items()},
}
CLASSES = {cls.__name__: cls for cls in CLASS_OF.values()}
globals().update(CLASSES)


# Evaluation with several metrics: ``functional.evaluate`` and ``classes.evaluate`` of the toolkit.


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
METRICS: Mapping[str, type[AACMetric]] = {
    name.removesuffix("_mrefs"): CLASS_OF[name] for name in sorted(CLASS_OF) if name not in functions.UNSUPPORTED
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
    tokenize = preprocess if callable(preprocess) else preprocess_mono_sents if preprocess else list
    texts = iter(tokenize([*chain.from_iterable(mult_references)]))
    candidates = list(tokenize(candidates))
    mult_references = [[next(texts) for _ in group] for group in mult_references]
    corpus: dict[str, Any] = {}
    sents: dict[str, Any] = {}
    for scorer in scorers:
        of_corpus, of_sents = scorer(candidates, mult_references)
        corpus |= of_corpus
        sents |= of_sents
    return corpus, sents


def dcase2023_evaluate(*captions: Any, **options: Any) -> Scores:
    """Call ``evaluate`` with the metrics of DCASE 2023, METEOR and SPIDEr-FL; further arguments are keywords."""
    return evaluate(*captions, **{**options, "metrics": "dcase2023"})


def dcase2024_evaluate(*captions: Any, **options: Any) -> Scores:
    """Call ``evaluate`` with the metrics of DCASE 2024: always a ParameterError, as ``vocab`` is not supported."""
    return evaluate(*captions, **{**options, "metrics": "dcase2024"})


class Evaluate(KeptCaptions):
    """``evaluate`` for captions added in batches; a sequence of its metrics.

    Args:
        preprocess, metrics, device: as for ``evaluate``.
        cache_path, java_path, tmp_path, verbose: ignored.
    """

    def __init__(
        self,
        preprocess: Preprocess = True,
        metrics: str | Iterable[str] | Iterable[AACMetric] = DEFAULT_METRICS_SET_NAME,
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

    def tolist(self) -> list[AACMetric]:
        """Return the metrics."""
        return list(self._metrics)

    def __iter__(self) -> Iterator[AACMetric]:
        return iter(self._metrics)

    def __len__(self) -> int:
        """Return the number of metrics."""
        return len(self._metrics)

    def __getitem__(self, index: int) -> AACMetric:
        return self._metrics[index]


class DCASE2023Evaluate(Evaluate):
    """The metrics of DCASE 2023, METEOR and SPIDEr-FL."""

    __init__ = partialmethod(Evaluate.__init__, metrics="dcase2023")  # type: ignore[assignment]


class DCASE2024Evaluate(Evaluate):
    """The metrics of DCASE 2024: an error, as in ``dcase2024_evaluate``."""

    __init__ = partialmethod(Evaluate.__init__, metrics="dcase2024")  # type: ignore[assignment]


def metrics_of(metrics: str | Iterable[Any], device: object = "cuda_if_available") -> list[AACMetric]:
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
            functions.unsupported(metric)
        if isinstance(metric, str) and metric not in METRICS:
            raise UnknownNameError(
                f"aac-metrics has no metric {metric!r}", hint=f"its metrics are {', '.join(METRICS)}"
            )
        if not isinstance(metric, str) and not callable(metric):
            raise TypeError("Invalid argument type for metrics. (expected str, Iterable[str] or Iterable[Metric])")
    return members


# Functions that programs call before scoring: downloads, paths and the check of Java, none of which captious needs.

T = TypeVar("T")


def download_metrics(*arguments: Any, **options: Any) -> None:
    """Do nothing; the toolkit downloads jars and models."""


def check_java_path(java_path: object) -> bool:
    """Return True, as Java is not needed."""
    return True


def duplicate_list(lst: list[T], sizes: list[int]) -> list[T]:
    """Repeat each element as often as its size says.

    Raises:
        ValueError: not as many sizes as elements.
    """
    if len(lst) != len(sizes):
        raise ValueError(f"Invalid arguments lengths. (found {len(lst)=} != {len(sizes)=})")
    return [element for element, size in zip(lst, sizes, strict=True) for _ in range(size)]


def _get_default(name: str) -> str:
    """Return the path that was set, or the toolkit's own default. Nothing uses it."""
    return _paths[name]


def _set_default(name: str, value: object) -> None:
    """Keep a path; None for the toolkit's own default. Nothing uses it."""
    _paths[name] = _DEFAULTS[name] if value is None else str(value)


_DEFAULTS = {"cache": os.path.expanduser("~/.cache"), "java": "java", "tmp": tempfile.gettempdir()}
_paths = {**_DEFAULTS}
#: The functions of ``utils.globals``, which the package has, too.
SETUP = {
    f"{verb}_default_{name}_path": partial(function, name)
    for name in _DEFAULTS
    for verb, function in (("get", _get_default), ("set", _set_default))
}
