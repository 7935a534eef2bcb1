"""Registry of metrics by name: built-in, registered, and from other packages.

Others are added with ``register``, or by a package with an entry point of the group ``captious.metrics``, whose name is
the metric's and whose value is its class.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeVar

from captious.entry_points import EntryPoints, did_you_mean
from captious.errors import ParameterError, UnknownNameError
from captious.metrics.contract.metric import Metric

__all__ = ["askable", "get", "names", "owner", "register", "unknown"]

#: One line per metric of the package.
_BUILT_IN = {
    "bleu": "captious.metrics.bleu:Bleu",
    "meteor": "captious.metrics.meteor:Meteor",
    "rouge-l": "captious.metrics.rouge_l:RougeL",
    "rouge-n": "captious.metrics.rouge_n:RougeN",
    "rouge-s": "captious.metrics.rouge_s:RougeS",
    "cider": "captious.metrics.cider:Cider",
    "cider-d": "captious.metrics.cider_d:CiderD",
    "cider-r": "captious.metrics.cider_r:CiderR",
    "sparcs": "captious.metrics.sparcs:Sparcs",
    "spurts": "captious.metrics.spurts:Spurts",
    "mima": "captious.metrics.mima:Mima",
    "smurf": "captious.metrics.smurf:Smurf",
    "bertscore": "captious.metrics.bertscore:BertScore",
    "yi2020": "captious.metrics.yi2020:Yi2020",
    "yi2020-unigram": "captious.metrics.yi2020_unigram:Yi2020Unigram",
    "clipscore": "captious.metrics.clipscore:ClipScore",
    "refclipscore": "captious.metrics.refclipscore:RefClipScore",
    "spice": "captious.metrics.spice:Spice",
    "spider": "captious.metrics.spider:Spider",
    "hwcm": "captious.metrics.hwcm:Hwcm",
    "wmd": "captious.metrics.wmd:Wmd",
    "mowe": "captious.metrics.mowe:Mowe",
    "wembsim": "captious.metrics.wembsim:Wembsim",
    "ngram-precision": "captious.metrics.ngram_precision:NgramPrecision",
    "unigram-recall": "captious.metrics.unigram_recall:UnigramRecall",
    "chair": "captious.metrics.chair:Chair",
    "length": "captious.metrics.length:Length",
    "div": "captious.metrics.div:Div",
    "mbleu": "captious.metrics.mbleu:MBleu",
    "self-cider": "captious.metrics.self_cider:SelfCider",
    "lsa": "captious.metrics.lsa:Lsa",
    "distinct": "captious.metrics.distinct:Distinct",
    "allspice": "captious.metrics.allspice:AllSpice",
    "novel": "captious.metrics.novel:Novel",
    "captious": "captious.learned.captious:Captious",
    "nneval": "captious.learned.nneval:NNEval",
    "lceval": "captious.learned.lceval:LCEval",
    "leic": "captious.learned.leic:Leic",
}

MetricClass = TypeVar("MetricClass", bound=type[Metric])

_OTHERS = EntryPoints("captious.metrics", "metric", tuple(_BUILT_IN))
_registered: dict[str, type[Metric]] = {}


def register(name: str) -> Callable[[MetricClass], MetricClass]:
    """Class decorator that registers a metric under a name until the process ends.

    Raises:
        ParameterError: not a metric, or a name that is taken.
    """

    if not isinstance(name, str):
        raise ParameterError("register takes the name of the metric", help='write @captious.register("my-metric")')

    def add(metric: MetricClass) -> MetricClass:
        if not (isinstance(metric, type) and issubclass(metric, Metric)):
            raise ParameterError(f"{metric!r} is not a metric", help="derive the class from captious.Metric")
        _named(metric, name)
        taken = {other for known in names() if known != name for other in (known, *_outputs(known))}
        if name in _BUILT_IN or taken & {name, *metric.outputs}:
            raise ParameterError(f"the name {name} is taken", help="register the metric under another name")
        _registered[name] = metric
        return metric

    return add


def names() -> list[str]:
    """Names of all metrics: those of the package, then others by name."""
    return [*_BUILT_IN, *sorted({*_registered, *_OTHERS.found} - {*_BUILT_IN})]


def get(name: str) -> type[Metric]:
    """The class of a metric.

    Raises:
        UnknownNameError: no metric of that name.
        ParameterError: an entry point that does not lead to a metric.
    """
    if name in _BUILT_IN:
        module, attribute = _BUILT_IN[name].split(":")
        metric: type[Metric] = getattr(import_module(module), attribute)
        return metric
    if name in _registered:
        return _registered[name]
    if name in _OTHERS.found:
        loaded = _OTHERS.load(name)
        if not (isinstance(loaded, type) and issubclass(loaded, Metric)):
            raise _OTHERS.refuse(name, "a captious.Metric")
        return _named(loaded, name)
    raise unknown(name)


def owner(name: str) -> str | None:
    """The metric that a name belongs to, its own or one of its outputs. Other packages are asked last."""
    for metric in (*_BUILT_IN, *_registered):
        if name in (metric, *_outputs(metric)):
            return metric
    return next((metric for metric in _OTHERS.found if name in (metric, *_outputs(metric))), None)


def _outputs(metric: str) -> tuple[str, ...]:
    """Outputs of a metric; none if it is another package's and cannot be loaded."""
    try:
        return get(metric).outputs
    except ParameterError:
        return ()


def _named(metric: type[Metric], name: str) -> type[Metric]:
    """The metric under the name it was registered by."""
    if capitals := [each for each in (name, *metric.__dict__.get("outputs", ())) if each != each.lower()]:
        raise ParameterError(
            f"the name {capitals[0]} contains capitals, but metric names must be lower case",
            help=f"call it {capitals[0].lower()}",
        )
    if "outputs" not in metric.__dict__ and len(getattr(metric, "outputs", ())) > 1:
        raise ParameterError(
            f"{name} does not declare the names of its outputs",
            where=f"{metric.__qualname__} would also report {', '.join(metric.outputs)}",
            help="set outputs = (...) in the class",
        )
    if "outputs" not in metric.__dict__:
        metric.outputs = (name,)
    for attribute in ("lower_is_better", "no_direction"):
        if strangers := sorted(set(getattr(metric, attribute)) - set(metric.outputs)):
            raise ParameterError(
                f"{name} names {strangers[0]} in {attribute}, but has no such output",
                where=f"its outputs are {', '.join(metric.outputs)}",
                help=f"set {attribute} to a frozenset of names of outputs",
            )
    metric.name = name
    return metric


def askable() -> list[str]:
    """All names that can be requested."""
    return [name for metric in names() for name in dict.fromkeys((metric, *_outputs(metric)))]


def unknown(name: str) -> UnknownNameError:
    known = askable()
    return UnknownNameError(
        f"there is no metric {name!r}", help=f"{did_you_mean(name, known)}available metrics: {', '.join(known)}"
    )
