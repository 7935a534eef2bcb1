"""Hashes of user code for signatures, which differ if the source or the values that it uses differ."""

from __future__ import annotations

import functools
import inspect
import os
import re
from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from captious.errors import CaptiousError, ParameterError, either
from captious.words import with_article

_PLAIN = (str, bytes, int, float, complex, bool, type(None), type(...), PurePath, np.generic)
#: Attributes of classes that Python and this package set.
_NOT_WRITTEN = frozenset({"__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__firstlineno__"})
_NOT_WRITTEN |= {"__static_attributes__", "__abstractmethods__", "__parameters__", "__orig_bases__", "_abc_impl"}
_NOT_WRITTEN |= {"declared", "name", "outputs", "__signature__"}


def function_hash(function: Callable[..., Any], name: str) -> str:
    """Return a hash of the source of a function and of the values that it uses.

    These are its defaults, its closure, the arguments of a partial, the attributes of a callable object, and constants,
    functions and classes of its module and of modules beside it.

    Args:
        function: a function or another callable.
        name: its name in messages.

    Raises:
        ParameterError: it uses an opaque object, such as a model, and has no attribute ``name``.
    """
    return _hashed(
        _Description(name if not isinstance(getattr(function, "name", None), str) else "").describe(function)
    )


def is_built_in(metric: type) -> bool:
    """Return whether a class is part of this package."""
    return metric.__module__.partition(".")[0] == "captious"


@functools.cache
def class_hash(cls: type) -> str:
    """Return a hash of the source of a class and of those of its bases that are outside this package."""
    bases = [base for base in cls.__mro__ if not is_built_in(base) and base not in (object, ABC)]
    return _hashed(text for base in bases for text in _Description().describe_class(base))


@contextmanager
def running(problem: str, where: Callable[[], str], hint: Callable[[Exception], str] | None = None) -> Iterator[None]:
    """Run code of users in the block.

    Args:
        problem: what a failure is, as in "NAME failed".
        where: returns the place of the code.
        hint: returns the remedy for an error; by default, it is to repair the code.

    Raises:
        ParameterError: it failed.
    """
    try:
        yield
    except (CaptiousError, MemoryError):
        raise
    except Exception as error:  # whatever the code does
        advice = f"repair it{either(python='', command=', or see the traceback with --debug')}"
        raise ParameterError(
            f"{problem}: {type(error).__name__}: {error}", where=where(), hint=hint(error) if hint else advice
        ) from error


def _hashed(texts: Iterable[str]) -> str:
    return _sha256("\0".join(texts).encode(errors="surrogatepass"))[:8]


def _sha256(data: bytes) -> str:
    from hashlib import sha256  # only metrics of users need it, and it takes as long to import as a few captions

    return sha256(data).hexdigest()


class _Description:
    """A text representation that differs where values do.

    Args:
        name: name of the object, to refuse values that cannot be described; empty to describe these by their type.
    """

    def __init__(self, name: str = "") -> None:
        self._name = name
        self._numbers: dict[int, int] = {}  # ids of described objects, which may contain themselves

    def describe(self, value: Any) -> Iterator[str]:
        if isinstance(value, _PLAIN):
            yield f"{type(value).__name__} {value!r}"
        elif id(value) in self._numbers:
            yield f"again {self._numbers[id(value)]}"
        else:
            self._numbers[id(value)] = len(self._numbers)
            yield from self._describe_object(value)

    def _describe_object(self, value: Any) -> Iterator[str]:
        if isinstance(value, functools.partial):
            yield from self._all("partial", (value.func, value.args, value.keywords))
        elif isinstance(value, MethodType):
            yield from self._all("method", (value.__func__, value.__self__))
        elif isinstance(value, FunctionType):
            yield from self._all(_source(value.__code__), _dependencies(value))
        elif isinstance(value, staticmethod | classmethod):
            yield from self.describe(value.__func__)
        elif isinstance(value, property | functools.cached_property):
            yield from self.describe(getattr(value, "fget", None) or getattr(value, "func", None))
        elif isinstance(value, np.ndarray) and value.dtype != object:
            yield f"array {value.dtype} {value.shape} {_sha256(value.tobytes())}"
        elif isinstance(value, re.Pattern):
            yield f"pattern {value.pattern!r} {value.flags}"
        elif isinstance(value, Mapping):
            yield from self._all(f"mapping {len(value)}", (part for item in value.items() for part in item))
        elif isinstance(value, Set):
            yield f"set {sorted(map(repr, value))}"
        elif isinstance(value, list | tuple):
            yield from self._all(f"{type(value).__name__} {len(value)}", value)
        elif isinstance(value, type | ModuleType | BuiltinFunctionType | np.ufunc):
            yield f"{getattr(value, '__module__', '')} {value.__name__}"
        elif callable(getattr(value, "__wrapped__", None)):  # functools.cache and its like
            yield from self._all(type(value).__name__, (value.__wrapped__,))
        elif _is_open(value):
            yield from self.describe_class(type(value))
            yield from self.describe(vars(value))
        elif self._name:
            raise ParameterError(
                f"{self._name} uses {with_article(type(value).__qualname__)}, whose content its signature cannot show",
                hint=f'set {self._name}.name to a name that says what it uses, such as "{self._name}-2"',
            )
        else:
            yield f"{type(value).__module__}.{type(value).__qualname__}"

    def describe_class(self, cls: type) -> Iterator[str]:
        """Describe the names that a class itself, not its bases, defines."""
        yield cls.__qualname__
        for name, value in vars(cls).items():
            if name not in _NOT_WRITTEN:
                yield from self._all(name, (value,))

    def _all(self, head: str, values: Iterable[Any]) -> Iterator[str]:
        yield head
        for value in values:
            yield from self.describe(value)


def _dependencies(function: FunctionType) -> Iterator[Any]:
    """Return the values that a function uses besides its arguments, except those it may change."""
    yield function.__defaults__
    yield function.__kwdefaults__
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            yield None
    names = [*dict.fromkeys(_global_names(function.__code__))]
    scopes = [function.__globals__]
    for scope in scopes:
        for name in names:
            value = scope.get(name)
            is_beside = isinstance(value, FunctionType | type | ModuleType) and _is_beside(value, function)
            if is_beside and isinstance(value, ModuleType):
                if not any(vars(value) is known for known in scopes):
                    scopes.append(vars(value))
            elif is_beside and isinstance(value, type):
                yield _source(value)
            elif (
                is_beside
                or (isinstance(value, FunctionType) and value.__module__ == function.__module__)
                or all(isinstance(item, _PLAIN) for item in (value if isinstance(value, tuple) else (value,)))
            ):
                yield value


def _is_beside(value: FunctionType | type | ModuleType, function: FunctionType) -> bool:
    """Return whether an object was written in the folder of a function, or in a package there."""
    try:
        file = os.path.abspath(inspect.getfile(value))
    except (OSError, TypeError):  # built in, or no file
        return False
    return PurePath(os.path.abspath(function.__code__.co_filename)).parent in PurePath(file).parents[:2]


def _global_names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _source(code: CodeType | type) -> str:
    try:
        return inspect.getsource(code)
    except (OSError, TypeError, IndexError):  # no file, or one that is another by now
        if isinstance(code, type):
            return code.__qualname__
        constants = [_source(item) if isinstance(item, CodeType) else repr(item) for item in code.co_consts]
        return f"{code.co_code!r}{code.co_names}{code.co_varnames}{constants}"


class _Plain:
    """A class without fields of its own."""


def _is_open(value: Any) -> bool:
    """Return whether the attributes of an object are its whole content, as for classes written in Python."""
    cls = type(value)
    slots = any("__slots__" in vars(base) for base in cls.__mro__)
    return hasattr(value, "__dict__") and not slots and cls.__basicsize__ <= _Plain.__basicsize__
