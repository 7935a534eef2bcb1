"""Keywords that users know from other libraries, or expect of a function: what is written here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import ParamSpec, TypeVar

from captious.errors import ParameterError
from captious.metrics.contract.settings import Settings
from captious.plugins import MEANINGS

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

#: Keywords of ``captious.CaptionFile``.
_OF_FILES = frozenset({"columns", "split", "format", "layout"})
#: Parameters that take words -> what to write.
_WORDS = {"match": 'match="common"', "several": 'several="mean" or several="best"'}


def answers_other_keywords(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Decorate a public function so that a keyword of another library raises a TypeError that says what to write.

    A file that must be named by keyword is asked for by a ParameterError.
    """
    known = inspect.signature(function).parameters
    in_order = [name for name, one in known.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    needed = [name for name, one in known.items() if one.kind is one.KEYWORD_ONLY and one.default is one.empty]

    @functools.wraps(function)
    def called(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        for name in kwargs:
            if name not in known and (instead := _written_instead(name, known)):
                raise TypeError(f"{function.__name__}() has no parameter {name!r}: write {instead}")
        if len(args) > len(in_order):
            order = f"{function.__name__}({', '.join(in_order)}, ...)"
            raise TypeError(f"{function.__name__}() takes {', then '.join(in_order)}, the rest by name: write {order}")
        for name in needed:
            if name not in kwargs:
                raise ParameterError(f"{function.__name__} needs {name}", hint=f"give it by its name: {name}=...")
        return function(*args, **kwargs)

    return called


def _written_instead(name: str, known: Mapping[str, inspect.Parameter]) -> str:
    """Return what to write instead of an unknown keyword; empty if that is not known."""
    settings = {field.name for field in fields(Settings)} if "settings" in known else set()
    for meaning in (name, *MEANINGS.get(name.replace("_", "-"), ())):
        if meaning in known:
            return _WORDS.get(meaning, f"{meaning}=...")
        if meaning in settings:
            return f"settings=captious.Settings({meaning}=...)"
        if meaning in _OF_FILES:
            return f"captious.CaptionFile(path, {meaning}=...), which is accepted wherever a path is"
    return ""
