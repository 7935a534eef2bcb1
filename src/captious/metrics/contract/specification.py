"""How a metric is asked for in words: ``name``, ``name@variant``, ``name:parameter=value,...`` or all of that together.

A name is a metric's or one of its outputs'. Parameters are those of the metric's class, whose annotations say what
their values may be: numbers, ``true`` and ``false``, ``none``, or text.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from captious.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    from captious.metrics.contract.metric import Metric

__all__ = ["Asked", "parameters_of"]

_FORM = "write name@variant:parameter=value,parameter=value"
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}
# What an annotation may say, and what people call it.
_KINDS = {"bool": "true or false", "int": "a whole number", "float": "a number", "str": "text", "None": "none"}


@dataclass(frozen=True)
class Asked:
    """What was asked for.

    Args:
        name: of a metric or an output.
        variant: None for the metric's default.
        parameters: name -> value as it was written.
    """

    name: str
    variant: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str) -> Asked:
        """Take apart what was asked for.

        Raises:
            ParameterError: a parameter without a value, or twice.
        """
        head, colon, tail = text.partition(":")
        name, _, variant = head.partition("@")
        parameters: dict[str, str] = {}
        for piece in tail.split(",") if colon else ():
            key, equals, value = (part.strip() for part in piece.partition("="))
            if not (key and equals and value):
                raise ParameterError(f"{piece!r} is no parameter with a value", where=text, help=_FORM)
            if key in parameters:
                raise ParameterError(f"{key} is given twice", where=text, help="give every parameter once")
            parameters[key] = value
        return cls(name, variant or None, parameters)

    @property
    def suffix(self) -> str:
        """What labels add to the name of an output."""
        written = ",".join(f"{key}={value}" for key, value in self.parameters.items())
        return (f"@{self.variant}" if self.variant else "") + (f":{written}" if written else "")

    def values(self, metric: type[Metric]) -> dict[str, object]:
        """The parameters as the class takes them.

        Raises:
            UnknownNameError: a parameter that the metric does not have.
            ParameterError: a value of another kind than it takes.
        """
        known = parameters_of(metric)
        values: dict[str, object] = {}
        for key, text in self.parameters.items():
            if key not in known:
                settable = ", ".join(known) or "none that can be written here"
                raise UnknownNameError(f"{metric.name} has no parameter {key!r}", help=f"its parameters are {settable}")
            values[key] = _value(text, known[key], f"{self.name}:{key}={text}")
        return values


def parameters_of(metric: type[Metric]) -> dict[str, tuple[str, ...]]:
    """The parameters of a metric that can be written as words: name -> kinds of values, of ``_KINDS``."""
    found = {}
    for name, parameter in inspect.signature(metric).parameters.items():
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
    raise ParameterError(f"{text!r} is not what this parameter takes", where=where, help=f"give {takes}")
