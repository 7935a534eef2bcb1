"""The catalogue of metrics by name, and requests of metrics as text.

It has the metrics of this package, registered ones, and those of other packages. ``built_in.tsv`` lists the package's
metrics with their outputs, so that looking one up imports no other; tools/catalogue.py generates it. Others are added
with ``register``, or by an entry point of the group ``captious.metrics``, whose name is that of the metric and whose
value is its class, or a function. The COCO caption toolkit, its leaderboard and tables of papers have other names for
outputs: ``label_in_scheme``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from captious.errors import CaptionWarning, ParameterError, UnknownNameError, either
from captious.metrics.contract.functions import FunctionMetric, metric_class
from captious.metrics.contract.metric import BaseMetric, Parameterized, check_label, no_parameter
from captious.metrics.contract.settings import Settings
from captious.metrics.contract.user_code import is_built_in
from captious.plugins import EntryPoints, did_you_mean
from captious.words import shortened

# The catalogue.

MetricClass = TypeVar("MetricClass", bound=type[BaseMetric])


def _listed() -> Iterator[tuple[str, tuple[str, str, tuple[str, ...]]]]:
    _, *lines = Path(__file__).with_name("built_in.tsv").read_text(encoding="utf-8").splitlines()
    for line in lines:
        name, module, class_name, outputs = line.split("\t")
        yield name, (module, class_name, tuple(outputs.split()))


#: The metrics of the package: name -> (module, class, outputs).
METRICS: Mapping[str, tuple[str, str, tuple[str, ...]]] = dict(_listed())


def _canonical(name: str) -> str:
    """Return a name as metrics are named: in lower case and with hyphens."""
    return name.strip().lower().replace("_", "-")


PLUGINS = EntryPoints(
    "captious.metrics",
    "metric",
    tuple(label for name, (_, _, own) in METRICS.items() for label in dict.fromkeys((name, *own))),
    _canonical,
)
_registered: dict[str, type[BaseMetric]] = {}

NamingScheme: TypeAlias = Literal["captious", "toolkit", "paper"]
#: Naming schemes that tables can show.
NAMING_SCHEMES: tuple[NamingScheme, ...] = get_args(NamingScheme)

#: Names of a metric with certain parameters, which can be requested like a metric: name -> metric, parameters.
SHORT_NAMES: Mapping[str, tuple[str, Mapping[str, str]]] = {"chrf++": ("chrf", {"word_order": "2"})}

_ORDERS = (1, 2, 3, 4)
#: Output -> its name in the toolkit.
TOOLKIT_NAMES: Mapping[str, str] = {f"bleu-{n}": f"Bleu_{n}" for n in _ORDERS} | {
    "meteor": "METEOR",
    "rouge-l": "ROUGE_L",
    "cider-d": "CIDEr",
    "spice": "SPICE",
}
_PAPER_NAMES: Mapping[str, str] = {f"bleu-{n}": f"B@{n}" for n in _ORDERS} | {
    "meteor": "M",
    "rouge-l": "R-L",
    "cider-d": "C",
    "spice": "S",
    "spider": "SPIDEr",
    "bertscore-p": "BERTScore-P",
    "bertscore-r": "BERTScore-R",
    "bertscore-f": "BERTScore",
    "clipscore": "CLIP-S",
    "refclipscore": "RefCLIP-S",
    "chair-s": "CHAIR-s",
    "chair-i": "CHAIR-i",
    "wmd": "WMD",
}
_NAMES_BY_SCHEME: Mapping[str, Mapping[str, str]] = {"captious": {}, "toolkit": TOOLKIT_NAMES, "paper": _PAPER_NAMES}


def register(name: str) -> Callable[[MetricClass], MetricClass]:
    """Return a class decorator that registers a metric under a name for this process.

    Raises:
        ParameterError: not a metric, or a name that is taken.
    """

    if not isinstance(name, str):
        raise ParameterError("register takes the name of the metric", hint='write @captious.register("my-metric")')

    def add(metric: MetricClass) -> MetricClass:
        if not _is_metric(metric):
            raise ParameterError(f"{shortened(metric)} is not a metric", hint="derive the class from captious.Metric")
        metric_outputs = vars(metric).get("outputs", (name,))
        _check_free(name, metric_outputs, [key for key in metric_names() if key != name or key in METRICS])
        _validate_and_name(metric, name)
        _registered[name] = metric
        return metric

    return add


def check_own(metric: type[BaseMetric]) -> None:
    """Check a class that is used without having been registered.

    Raises:
        ParameterError: it has no name, that of another metric, or an inconsistent declaration.
    """
    name = getattr(metric, "name", None)
    if is_built_in(metric) or _registered.get(str(name)) is metric:
        return
    if not isinstance(name, str):
        raise ParameterError(f"{metric.__name__} has no name", hint='set name = "..." in the class, or register it')
    _check_free(name, metric.outputs, METRICS)
    _validate_and_name(metric, name)


def named_freely(metric: FunctionMetric) -> FunctionMetric:
    """Return the metric of a function.

    Raises:
        ParameterError: it has the name of a metric or an output of this package.
    """
    _check_free(metric.name, metric.outputs, METRICS)
    return metric


def _is_metric(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseMetric)


def _is_metric_or_function(value: object) -> bool:
    return _is_metric(value) or (callable(value) and not isinstance(value, type))


def _check_free(name: str, metric_outputs: Sequence[str], metric_names: Iterable[str]) -> None:
    reserved = {label for metric_name in metric_names for label in (metric_name, *outputs(metric_name))}
    if clash := next((label for label in (name, *metric_outputs) if label in reserved), None):
        raise ParameterError(f"the name {clash} is taken", hint="give the metric and its outputs other names")


def metric_names() -> list[str]:
    """Return the names of all metrics: those of the package, then others by name."""
    return [*METRICS, *sorted({*_registered, *PLUGINS.by_name} - {*METRICS})]


def get(name: str) -> type[BaseMetric]:
    """Return the class of a metric.

    Raises:
        UnknownNameError: an unknown metric.
        ParameterError: an entry point that is not a metric.
    """
    if name in METRICS:
        module, class_name, _ = METRICS[name]
        metric: type[BaseMetric] = getattr(import_module(f"captious.{module}"), class_name)
        return metric
    if name in _registered:
        return _registered[name]
    if name in PLUGINS.by_name:
        loaded = PLUGINS.load(name, _is_metric_or_function, "a captious.Metric, or a function")
        if not _is_metric(loaded):
            check_label(name)
            return metric_class(loaded, name)
        return _validate_and_name(loaded, name)
    raise unknown(name)


def usable() -> list[type[BaseMetric]]:
    """Return the classes of all metrics, without those of other packages that cannot be loaded."""
    return [metric for name in metric_names() if (metric := _usable(name)) is not None]


def _usable(name: str) -> type[BaseMetric] | None:
    try:
        return get(name)
    except ParameterError:
        return None


def outputs(name: str) -> tuple[str, ...]:
    """Return the outputs of a metric; none if it is another package's and cannot be loaded."""
    if name in METRICS:
        return METRICS[name][2]
    metric = _usable(name)
    return () if metric is None else metric.outputs


def owner_of(name: str) -> str | None:
    """Return the metric that a name or output belongs to; None if there is none."""
    for metric in METRICS:
        if name in (metric, *METRICS[metric][2]):
            return metric
    return next((metric for metric in (*_registered, *PLUGINS.by_name) if name in (metric, *outputs(metric))), None)


def requestable() -> list[str]:
    """Return all names that can be requested: metrics and their outputs."""
    return [name for metric in metric_names() for name in dict.fromkeys((metric, *outputs(metric)))]


#: How to find the names of metrics.
LISTED = either(python="captious.list_metrics() lists them", command="run `captious metrics` to list them")


def unknown(name: str) -> UnknownNameError:
    """Return the error for an unknown name."""
    guess = did_you_mean(name, requestable(), most=3)
    help = f"{guess}{toolkit_hint(name)}{LISTED}"
    if name.endswith(".py"):
        help = f"a function is requested as {name}:FUNCTION"
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and all(part in requestable() for part in parts):
        help = either(python=f"give a list: {parts}", command=f"name one: {parts[0]}")
    return UnknownNameError(f"there is no metric {shortened(name)}", hint=help)


def _validate_and_name(metric: type[BaseMetric], name: str) -> type[BaseMetric]:
    """Check the declaration of a metric, and set its name and outputs.

    Raises:
        ParameterError: an inconsistent declaration.
    """
    own_outputs = vars(metric).get("outputs", ())
    if isinstance(own_outputs, str) or not all(isinstance(output, str) for output in own_outputs):
        raise ParameterError(f"{name} has outputs {shortened(own_outputs)}", hint="set outputs to a tuple of names")
    if len({*own_outputs}) < len(own_outputs):
        raise ParameterError(f"{name} has an output twice: {', '.join(own_outputs)}", hint="give each another name")
    for label in (name, *own_outputs):
        check_label(label)
    if not own_outputs and len(getattr(metric, "outputs", ())) > 1:
        raise ParameterError(
            f"{name} does not declare the names of its outputs",
            where=f"{metric.__qualname__} would also report {', '.join(metric.outputs)}",
            hint="set outputs = (...) in the class",
        )
    if metric.__init__ is not Parameterized.__init__:
        raise ParameterError(
            f"{name} has a constructor of its own",
            where=metric.__qualname__,
            hint="declare its parameters in the class, as in bound: captious.NumberParameter = "
            "captious.NumberParameter(default=2.0), "
            "and check them in setup()",
        )
    if not own_outputs:
        metric.outputs = (name,)
    low, high = metric.bounds
    if not low < high:
        raise ParameterError(f"{name} has the bounds {metric.bounds}", hint="give the lowest score, then the highest")
    for attribute in ("lower_is_better", "no_direction"):
        if not isinstance(getattr(metric, attribute), Set | Sequence) or isinstance(getattr(metric, attribute), str):
            raise ParameterError(
                f"{name} has {shortened(getattr(metric, attribute))} as {attribute}",
                hint=f'write {attribute} = frozenset({{"{metric.outputs[0]}"}})',
            )
        if strangers := sorted(set(getattr(metric, attribute)) - set(metric.outputs)):
            raise ParameterError(
                f"{name} names {strangers[0]} in {attribute}, but has no such output",
                where=f"its outputs are {', '.join(metric.outputs)}",
                hint=f"set {attribute} to a frozenset of names of outputs",
            )
    metric.name = name
    return metric


def ambiguous_names(labels: Collection[str]) -> list[CaptionWarning]:
    """Return a sentence about requested outputs whose name means something else in the toolkit.

    Args:
        labels: labels of a run. If the toolkit's own output is among them, no sentence is needed.
    """
    outputs = {_parts(label)[0] for label in labels}
    if "cider" not in outputs or "cider-d" in outputs:
        return []
    text = "cider is CIDEr without clipping and length penalty; what papers and the COCO toolkit call CIDEr is cider-d."
    return [CaptionWarning(text, "ambiguous-name")]


def toolkit_hint(name: str) -> str:
    """Return help with names of the COCO toolkit that begin with an unknown name, followed by a space; or empty."""
    lowered = name.lower().replace("-", "_")
    names = [
        (toolkit_name, output)
        for output, toolkit_name in TOOLKIT_NAMES.items()
        if toolkit_name.lower().startswith(f"{lowered}_")
    ]
    return "".join(f"the COCO toolkit's {toolkit_name} is {output}; " for toolkit_name, output in names)


def label_in_scheme(label: str, scheme: NamingScheme) -> str:
    """Return a label with the name of its output in another scheme; variant and parameters do not change.

    Args:
        label: such as "cider-d" or "bleu-4:tokenizer=whitespace".
        scheme: the naming scheme; outputs without a name there keep theirs.

    Raises:
        UnknownNameError: an unknown scheme.
    """
    if scheme not in _NAMES_BY_SCHEME:
        raise UnknownNameError(f"there is no naming scheme {scheme!r}", hint=f"choose {', '.join(NAMING_SCHEMES)}")
    output, suffix = _parts(label)
    return _NAMES_BY_SCHEME[scheme].get(output, output) + suffix


def labels_called(name: str) -> list[str]:
    """Return the labels that have a name in one of the schemes: ``label_in_scheme`` the other way round."""
    return [
        output + name[len(called) :]
        for names in _NAMES_BY_SCHEME.values()
        for output, called in names.items()
        if name.startswith(called) and name[len(called) : len(called) + 1] in ("", "@", ":", " ")
    ]


def _parts(label: str) -> tuple[str, str]:
    """Split a label into the output, and its variant and parameters."""
    output = re.split("[@: ]", label, maxsplit=1)[0]
    return output, label[len(output) :]


# Requests of metrics as text.
#
# A metric is requested by its name (``cider-d``), by one of its outputs (``bleu-4``), or either with a variant and
# parameters (``cider-d@paper``, ``rouge-s:gap=2``). ``selection`` also accepts objects.

#: Prefix of a request for a sum of metrics, which depends on all captions together: judgments take sums.
SUM = "sum:"


@dataclass(frozen=True)
class Request:
    """A parsed request of a metric, ``name@variant:parameter=value,...``.

    Args:
        name: name of a metric or an output, in lower case and with hyphens.
        variant: in lower case; None for the metric's default.
        parameters: name in lower case -> value as written.
    """

    name: str
    variant: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str) -> Request:
        """Parse a request. Names of metrics, variants and parameters may be in any case; Bleu_4 is bleu-4.

        Raises:
            ParameterError: a parameter without a value, or twice; a sum; a function in a file.
        """
        if text.strip().lower().startswith(SUM):
            raise ParameterError(
                "a sum of metrics is not a metric",
                where=text,
                hint="captious judge, captious study systems and captious study metrics take sums",
            )
        if ".py:" in text:
            command = "captious score, judge and other commands take functions as -m FILE.py:FUNCTION, no parameters"
            raise ParameterError(
                "expected the name of a metric, not a function in a file",
                where=text,
                hint=either(python="give the function itself", command=command),
            )
        head, colon, tail = text.partition(":")
        name, _, variant = head.partition("@")
        parameters: dict[str, str] = {}
        for piece in tail.split(",") if colon else ():
            key, equals, value = (part.strip() for part in piece.partition("="))
            if not (key and equals and value):
                raise ParameterError(
                    f"expected PARAMETER=VALUE, got {shortened(piece)}",
                    where=text,
                    hint="write name@variant:parameter=value,parameter=value",
                )
            key = key.lower()
            if key in parameters:
                raise ParameterError(f"{key} is given twice", where=text, hint="give each parameter once")
            parameters[key] = value
        name = _canonical(name)
        name, implied = SHORT_NAMES.get(name, (name, {}))
        return cls(name, variant.strip().lower() or None, {**implied, **parameters})

    def __str__(self) -> str:
        """Return the text, in lower case where case does not matter."""
        parameters = ",".join(f"{key}={value}" for key, value in self.parameters.items())
        return self.name + (f"@{self.variant}" if self.variant else "") + (f":{parameters}" if parameters else "")

    @property
    def label(self) -> str:
        """Shortest text that requests the same output."""
        return self.name + self.suffix

    @cached_property
    def suffix(self) -> str:
        """Suffix of the name of an output in labels, as ``BaseMetric.suffix`` of the metric."""
        metric = get(self.metric)
        variant = _spelled_name(self.variant, metric.variants) if self.variant else ""
        return metric.suffix_of(variant, self._values(metric))

    @cached_property
    def metric(self) -> str:
        """Name of the metric.

        Raises:
            UnknownNameError: there is none.
        """
        owner = owner_of(self.name)
        if owner is None:
            raise unknown(self.name)
        return owner

    def output_indices(self, outputs: Sequence[str]) -> dict[str, int]:
        """Return the requested ones among a metric's outputs: label -> index.

        The name of an output selects only that output, even if it is also the metric's name.
        """
        selected = [self.name] if self.name in outputs else outputs
        return {output + self.suffix: outputs.index(output) for output in selected}

    def make(self, metric: type[BaseMetric], settings: Settings) -> BaseMetric:
        """Create the metric under the settings of the run. Parameters in the request take precedence.

        Raises:
            UnknownNameError: an unknown variant or parameter.
            ParameterError: an invalid value of a parameter.
        """
        arguments: dict[str, Any] = {
            name: value for name, value in settings.of_metrics.items() if name in metric.declared
        }
        if self.variant is not None:
            if "variant" not in metric.declared:
                raise UnknownNameError(f"{metric.name} has no variants", hint=f"use {self.name} alone")
            arguments["variant"] = _spelled_name(self.variant, metric.variants)
        return metric(**arguments | self._values(metric))

    def _values(self, metric: type[BaseMetric]) -> dict[str, Any]:
        """Return the written parameters as arguments of the class."""
        if not self.parameters:
            return {}
        writable = parameters_of(metric)
        values: dict[str, Any] = {}
        for key, text in self.parameters.items():
            name = _spelled_name(key, writable)
            if name not in writable:
                raise no_parameter(metric, name, writable)
            try:
                values[name] = metric.declared[name].from_text(text)
            except ValueError:
                raise ParameterError(
                    f"invalid parameter value {shortened(text)}",
                    where=f"{self.name}:{name}={text}",
                    hint=f"give {writable[name]}",
                ) from None
        return values


def names_a_file(request: str) -> bool:
    """Return whether this is FILE.py:FUNCTION."""
    file, colon, function = request.rpartition(":")
    return bool(colon) and file.endswith(".py") and function.isidentifier()


def _spelled_name(lowered: str, names: Iterable[str]) -> str:
    """Return the name that has this lower-case form, or the form itself if none has."""
    return next((name for name in names if name.lower() == lowered), lowered)


def parameters_of(metric: type[BaseMetric]) -> dict[str, str]:
    """Return the parameters of a metric that can be written as text, besides the variant: name -> description."""
    return {
        name: parameter.text_form + (" or none" if parameter.takes_none else "")
        for name, parameter in metric.declared.items()
        if parameter.text_form
    }
