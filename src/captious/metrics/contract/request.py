"""Requests of metrics as text.

A metric is requested by its name (``cider-d``), by one of its outputs (``bleu-4``), or either with a variant and
parameters (``cider-d@paper``, ``rouge-s:gap=2``). ``selection`` also accepts objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from captious.errors import ParameterError, UnknownNameError
from captious.metrics.contract import catalogue
from captious.metrics.contract.catalogue import SHORT_NAMES
from captious.metrics.contract.metric import BaseMetric, no_parameter
from captious.metrics.contract.settings import Settings

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
            ParameterError: a parameter without a value, or twice; a sum.
        """
        if text.strip().lower().startswith(SUM):
            raise ParameterError(
                "a sum of metrics is not a metric",
                where=text,
                help="captious judge, captious study systems and captious study metrics take sums",
            )
        head, colon, tail = text.partition(":")
        name, _, variant = head.partition("@")
        parameters: dict[str, str] = {}
        for piece in tail.split(",") if colon else ():
            key, equals, value = (part.strip() for part in piece.partition("="))
            if not (key and equals and value):
                raise ParameterError(
                    f"expected PARAMETER=VALUE, got {piece!r}",
                    where=text,
                    help="write name@variant:parameter=value,parameter=value",
                )
            key = key.lower()
            if key in parameters:
                raise ParameterError(f"{key} is given twice", where=text, help="give each parameter once")
            parameters[key] = value
        name = name.strip().lower().replace("_", "-")
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

    @property
    def suffix(self) -> str:
        """Suffix of the name of an output in labels, as ``BaseMetric.suffix`` of the metric."""
        metric = catalogue.get(self.metric)
        return metric.suffix_of(_spelled_name(self.variant or "", metric.variants), self._values(metric))

    @property
    def metric(self) -> str:
        """Name of the metric.

        Raises:
            UnknownNameError: there is none.
        """
        owner = catalogue.owner(self.name)
        if owner is None:
            raise catalogue.unknown(self.name)
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
                raise UnknownNameError(f"{metric.name} has no variants", help=f"use {self.name} alone")
            arguments["variant"] = _spelled_name(self.variant, metric.variants)
        return metric(**arguments | self._values(metric))

    def _values(self, metric: type[BaseMetric]) -> dict[str, Any]:
        """Return the written parameters as arguments of the class."""
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
                    f"invalid parameter value {text!r}",
                    where=f"{self.name}:{name}={text}",
                    help=f"give {writable[name]}",
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
