"""The module ``aac_metrics.classes``: metrics as ``torch.nn.Module``, evaluation with several, and setup functions."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, partialmethod
from itertools import chain
from typing import Any, ClassVar, TypeAlias

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
        """Add captions.

        Raises:
            ValueError: not a list of candidates and a list of lists of references.
        """
        check_metric_inputs(candidates, mult_references)
        self._add(candidates, mult_references)

    def _add(self, *captions: Iterable[Any]) -> None:
        for kept, added in zip(self._captions, captions, strict=True):
            kept.extend(added)

    def reset(self) -> None:
        """Remove all captions."""
        self._captions: tuple[list[Any], ...] = ([], [])


class _FunctionMetric(KeptCaptions):
    """A metric that is a function of ``metric_functions``.

    Args:
        return_all_scores: whether to return the scores of sentences, too.
        options: further arguments of the function. An error detector is looked up on construction.
    """

    higher_is_better = True
    min_value = 0.0
    max_value = 1.0

    _function: ClassVar[Callable[..., Any]]
    #: Options that the class gives to the function.
    _defaults: ClassVar[dict[str, Any]] = {}
    #: Names of the scores, possibly with the name of an option in braces.
    _names: ClassVar[Sequence[str]]

    def __init__(self, return_all_scores: bool = True, **options: Any) -> None:
        super().__init__()
        self._options = {"return_all_scores": return_all_scores, **self._defaults, **options}
        if "echecker" in self._options:
            self._options["echecker"] = functions.detector_of(self._options["echecker"])

    def compute(self) -> Any:
        """Return the result of the function for all captions added so far."""
        return type(self)._function(*self._captions, **self._options)

    def get_output_names(self) -> tuple[str, ...]:
        """Return the names of the scores."""
        further = functions.PROBABILITIES if self._options.get("return_probs") else ()
        return (*(name.format(**self._options) for name in self._names), *further)


class BLEU(_FunctionMetric):
    """BLEU of order n, 4 by default."""

    _function, _names, _defaults = functions.bleu, ("bleu_{n}",), {"n": 4}


class FER(_FunctionMetric):
    """Fluency error rate; it takes candidates and ignores references."""

    higher_is_better = False
    _function, _names, _defaults = functions.fer, ("fer",), {"echecker": functions.DETECTOR}

    def update(self, candidates: list[str], *ignored: Any, **ignored_too: Any) -> None:
        """Add candidates."""
        self._add(candidates)

    def reset(self) -> None:
        """Remove all captions."""
        self._captions = ([],)


_SPIDER = ("cider_d", "spice", "spider")


class SPIDErMax(_FunctionMetric):
    """SPIDEr of the best of several candidates."""

    max_value = 5.5
    _function, _names = functions.BY_NAME["spider_max"], tuple(f"{name}_max" for name in _SPIDER)

    def update(self, mult_candidates: list[list[str]], mult_references: list[list[str]]) -> None:  # type: ignore[override]
        """Add captions, several candidates for each recording."""
        self._add(mult_candidates, mult_references)


_DETECTOR = {"echecker": functions.DETECTOR}


def _made(
    function: str, name: str, base: type[AACMetric] = _FunctionMetric, **attributes: Any
) -> tuple[str, type[AACMetric]]:
    """Return a function of ``metric_functions``, and the class for it."""
    contents = {"_function": functions.BY_NAME[function], "_names": (function,), **attributes, "__module__": __name__}
    return function, type(name, (base,), {**contents, "__doc__": f"``{function}`` as a metric that keeps captions."})


#: The class of every function.
CLASS_OF: dict[str, type[AACMetric]] = dict(
    [
        ("bleu", BLEU),
        ("fer", FER),
        ("spider_max", SPIDErMax),
        *(_made(f"bleu_{n}", f"BLEU{n}", BLEU, _defaults={"n": n}) for n in (1, 2, 3, 4)),
        _made("bert_score_mrefs", "BERTScoreMRefs", _names=functions.NAMES),
        _made("cider_d", "CIDErD", max_value=10.0),
        _made("fense", "FENSE", _names=("sbert_sim", "fer", "fense"), _defaults=_DETECTOR, min_value=-1.0),
        _made("meteor", "METEOR"),
        _made("rouge_l", "ROUGEL"),
        _made("sbert_sim", "SBERTSim", min_value=-1.0),
        _made("spice", "SPICE"),
        _made("spider", "SPIDEr", _names=_SPIDER, max_value=5.5),
        _made(
            "spider_fl",
            "SPIDErFL",
            _names=(*_SPIDER, "spider_fl", "fer"),
            _defaults={**_DETECTOR, "return_probs": True},
            max_value=5.5,
        ),
        *(
            _made(metric, name, AACMetric, __init__=partial(functions.unsupported, metric))
            for metric, name in (("clap_sim", "CLAPSim"), ("mace", "MACE"), ("vocab", "Vocab"))
        ),
    ]
)
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


def dcase2023_evaluate(
    candidates: list[str], mult_references: list[list[str]], preprocess: Preprocess = True, **options: Any
) -> Scores:
    """Call ``evaluate`` with the metrics of DCASE 2023, METEOR and SPIDEr-FL; further arguments are keywords."""
    return evaluate(candidates, mult_references, preprocess, "dcase2023", **options)


def dcase2024_evaluate(
    candidates: list[str], mult_references: list[list[str]], preprocess: Preprocess = True, **options: Any
) -> Scores:
    """Call ``evaluate`` with the metrics of DCASE 2024: always a ParameterError, as ``vocab`` is not supported."""
    return evaluate(candidates, mult_references, preprocess, "dcase2024", **options)


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
        candidates, mult_references = self._captions
        return evaluate(candidates, mult_references, self._preprocess, self._metrics)

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

    __init__ = partialmethod(Evaluate.__init__, metrics="dcase2023")


class DCASE2024Evaluate(Evaluate):
    """The metrics of DCASE 2024: an error, as in ``dcase2024_evaluate``."""

    __init__ = partialmethod(Evaluate.__init__, metrics="dcase2024")


def metrics_of(metrics: str | Iterable[Any], device: object = "cuda_if_available") -> list[AACMetric]:
    """Return the metrics with these names, as objects; it raises the errors of ``evaluate``."""
    members = [*METRICS_SETS.get(metrics, (metrics,))] if isinstance(metrics, str) else list(metrics)
    names = [metric for metric in members if isinstance(metric, str)]
    for name in names:
        if name in functions.UNSUPPORTED:
            functions.unsupported(name)
        if name not in METRICS:
            raise UnknownNameError(f"aac-metrics has no metric {name!r}", hint=f"its metrics are {', '.join(METRICS)}")
    if not all(isinstance(metric, str) or callable(metric) for metric in members):
        raise TypeError("Invalid argument type for metrics. (expected str, Iterable[str] or Iterable[Metric])")
    made = {name: METRICS[name](**({"device": device} if name in _MODEL_METRICS else {})) for name in names}
    return [made[metric] if isinstance(metric, str) else metric for metric in members]


# Functions that programs call before scoring: downloads, paths and the check of Java, none of which captious needs.


def download_metrics(*arguments: Any, **options: Any) -> None:
    """Do nothing; the toolkit downloads jars and models."""


def check_java_path(java_path: object) -> bool:
    """Return True, as Java is not needed."""
    return True


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
