"""Specifications: metrics as text, ``name``, ``name@variant``, ``name:parameter=value,...`` or all of these together.

A name is a metric's or one of its outputs'. Parameters are those of the metric's class, whose annotations say what
their values may be: numbers, ``true`` and ``false``, ``none``, or text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from captious.errors import ParameterError, UnknownNameError
from captious.metrics.contract.settings import Settings, accepted

if TYPE_CHECKING:
    from captious.metrics.contract.metric import Metric

__all__ = ["Specification", "parameters_of"]

_FORM = "write name@variant:parameter=value,parameter=value"
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}
# The types that an annotation may name, and what messages call them.
_KINDS = {"bool": "true or false", "int": "an integer", "float": "a number", "str": "text", "None": "none"}


@dataclass(frozen=True)
class Specification:
    """A metric as text, taken apart.

    Args:
        name: of a metric or an output, in lower case.
        variant: in lower case; None for the metric's default.
        parameters: name in lower case -> value as it was written.
    """

    name: str
    variant: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str) -> Specification:
        """Take a specification apart. Names of metrics, variants and parameters may be in any case.

        Raises:
            ParameterError: a parameter without a value, or twice.
        """
        head, colon, tail = text.partition(":")
        name, _, variant = head.partition("@")
        parameters: dict[str, str] = {}
        for piece in tail.split(",") if colon else ():
            key, equals, value = (part.strip() for part in piece.partition("="))
            if not (key and equals and value):
                raise ParameterError(f"expected PARAMETER=VALUE, got {piece!r}", where=text, help=_FORM)
            key = key.lower()
            if key in parameters:
                raise ParameterError(f"{key} is given twice", where=text, help="give each parameter once")
            parameters[key] = value
        return cls(name.strip().lower(), variant.strip().lower() or None, parameters)

    @property
    def suffix(self) -> str:
        """What labels add to the name of an output."""
        written = ",".join(f"{key}={value}" for key, value in self.parameters.items())
        return (f"@{self.variant}" if self.variant else "") + (f":{written}" if written else "")

    def make(self, metric: type[Metric], settings: Settings) -> Metric:
        """The metric, under the settings of the run. Parameters written in the specification take precedence.

        Raises:
            UnknownNameError: a variant or parameter that the metric does not have.
            ParameterError: a value that a parameter does not take.
        """
        known = accepted(metric)
        given = {name: value for name, value in settings.of_metrics.items() if name in known}
        if self.variant is not None:
            if "variant" not in known:
                raise UnknownNameError(f"{metric.name} has no variants", help=f"use {self.name} alone")
            given["variant"] = _as_spelled(self.variant, metric.variants)
        return metric(**{**given, **self._values(metric)})

    def _values(self, metric: type[Metric]) -> dict[str, object]:
        """The parameters as the class takes them."""
        known = parameters_of(metric)
        values: dict[str, object] = {}
        for written, text in self.parameters.items():
            key = _as_spelled(written, known)
            if key not in known:
                settable = ", ".join(known)
                raise UnknownNameError(
                    f"{metric.name} has no parameter {key!r}",
                    help=f"its parameters are {settable}" if known else "none of its parameters can be written as text",
                )
            values[key] = _value(text, known[key], f"{self.name}:{key}={text}")
        return values


def _as_spelled(lowered: str, names: Iterable[str]) -> str:
    """The name that has this lower-case form, or the form itself if none has."""
    return next((name for name in names if name.lower() == lowered), lowered)


def parameters_of(metric: type[Metric]) -> dict[str, tuple[str, ...]]:
    """The parameters of a metric that can be written as text: name -> kinds of values, of ``_KINDS``."""
    found = {}
    for name, parameter in accepted(metric).items():
        annotation = parameter.annotation
        said = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
        kinds = tuple(kind for kind in map(str.strip, said.split("|")) if kind in _KINDS)
        if name != "variant" and set(kinds) - {"None"}:
            found[name] = kinds
    return found


def _value(text: str, kinds: tuple[str, ...], where: str) -> object:
    lowered = text.lower()
    if "None" in kinds and lowered == "none":
        return None
    if "bool" in kinds and lowered in _TRUTH:
        return _TRUTH[lowered]
    for kind, number in (("int", int), ("float", float)):
        if kind in kinds:
            try:
                return number(text)
            except ValueError:
                continue
    if "str" in kinds:
        return text
    takes = " or ".join(_KINDS[kind] for kind in kinds)
    raise ParameterError(f"invalid parameter value {text!r}", where=where, help=f"give {takes}")
