"""Declared: a class whose constructor, signature and text form follow from the parameters that it declares."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, ClassVar, dataclass_transform

from captious.entry_points import did_you_mean
from captious.errors import UnknownNameError
from captious.metrics.contract.parameters import (
    Choice,
    Flag,
    Integer,
    Number,
    Parameter,
    Resource,
    Text,
    TokenizerParameter,
)

__all__ = ["Declared", "no_parameter"]


class _ConstructorSignature:
    """The signature of a constructor as ``inspect`` and ``help`` show it."""

    def __get__(self, instance: object | None, owner: type[Declared]) -> inspect.Signature | None:
        if owner.__init__ is not Declared.__init__:
            return None
        return inspect.Signature(
            [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=parameter.default)
                for name, parameter in owner.declared.items()
            ]
        )


@dataclass_transform(
    kw_only_default=True,
    field_specifiers=(Parameter, Number, Integer, Flag, Choice, Text, Resource, TokenizerParameter),
)
class Declared:
    """Base class of what declares parameters: a constructor that takes them by name, in order of declaration."""

    __signature__ = _ConstructorSignature()
    #: The parameters, base classes first: name -> declaration.
    declared: ClassVar[Mapping[str, Parameter[Any, Any]]] = {}
    #: Parameters of base classes that this class does not have.
    without_parameters: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        parameters: dict[str, Parameter[Any, Any]] = {}
        for base in reversed(cls.__mro__):
            parameters |= {name: item for name, item in vars(base).items() if isinstance(item, Parameter)}
        cls.declared = {name: item for name, item in parameters.items() if name not in cls.without_parameters}

    def __init__(self, **arguments: Any) -> None:
        if unknown := next((name for name in arguments if name not in self.declared), None):
            raise no_parameter(getattr(self, "name", type(self).__name__), unknown, self.declared)
        #: The arguments that are not the default: name -> value.
        self.arguments = {
            name: arguments[name]
            for name, parameter in self.declared.items()
            if name in arguments and not _equal(arguments[name], parameter.default)
        }
        for name, parameter in self.declared.items():
            setattr(self, name, arguments.get(name, parameter.default))
        self.setup()
        self.is_complete = True

    def setup(self) -> None:
        """Check parameters that depend on each other, and load what they name. Called once, by the constructor."""

    def __repr__(self) -> str:
        written = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{type(self).__name__}({written})"


def _equal(value: object, default: object) -> bool:
    """Whether an argument is the default. Only plain values are compared: others need not be comparable."""
    plain = isinstance(value, str | Real) and isinstance(default, str | Real)
    return value is default or (plain and isinstance(value, bool) == isinstance(default, bool) and value == default)


def no_parameter(metric: str, name: str, declared: Iterable[str]) -> UnknownNameError:
    """The error of a parameter that a metric does not have."""
    names = list(declared)
    takes = f"its parameters are {', '.join(names)}" if names else "it has no parameters"
    return UnknownNameError(f"{metric} has no parameter {name!r}", help=did_you_mean(name, names) + takes)
