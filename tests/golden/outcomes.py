"""What calls of Python functions give, as documents: values, printed lines, warnings, or the error."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import numpy as np

from captious.errors import CaptiousError

__all__ = ["LIBRARIES", "call", "refusal", "value"]

#: What libraries say at the end of messages, which differs by their version.
LIBRARIES = [
    *(rf"(?<=not {ours}: ).+" for ours in ("JSON", "a JSON object", "csv", "TOML", "a recipe", "a feature set")),
    *(rf"(?<={ours}: ).+" for ours in ("of right answers", "cannot be read", "is damaged", "gzip file")),
]


def call(function: Callable[[], Any]) -> dict[str, Any]:
    """Call a function; its result or error, with what it printed and its warnings."""
    out, err = io.StringIO(), io.StringIO()
    document: dict[str, Any] = {}
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            document["value"] = value(function())
        except Exception as error:
            document["error"] = _error(error)
    issued = [f"{type(warning.message).__name__}: {warning.message}" for warning in caught]
    texts = {"printed": out.getvalue().splitlines(), "messages": err.getvalue().splitlines(), "warnings": issued}
    return document | {name: lines for name, lines in texts.items() if lines}


def refusal(error: CaptiousError) -> dict[str, str]:
    """Return an error with its text, place and hint."""
    return {"error": type(error).__name__, "message": error.message, "where": error.where, "hint": error.hint}


def value(found: Any) -> Any:
    """Return a value as a document; the types of containers and numbers are part of it."""
    if found is None or isinstance(found, bool | str):
        return found
    if isinstance(found, np.ndarray | np.generic):
        return {found.__class__.__name__: value(found.tolist()), "type": str(found.dtype)}
    if type(found).__module__.partition(".")[0] == "torch":
        return {type(found).__name__: value(found.tolist()), "type": str(found.dtype)}
    if isinstance(found, int | float):
        return found if type(found) in (int, float) else {type(found).__name__: found}
    if isinstance(found, Mapping):
        return {key if isinstance(key, str) else repr(key): value(item) for key, item in found.items()}
    if isinstance(found, list | tuple):
        items = [value(item) for item in found]
        return items if isinstance(found, list) else {type(found).__name__: items}
    return type(found).__name__


def _error(error: Exception) -> dict[str, Any]:
    """Return the class of an error, those that it is one of, and its text, if it is ours."""
    names = [base.__name__ for base in type(error).__mro__[:-1] if base not in (Exception, BaseException)]
    if isinstance(error, CaptiousError):
        return {"class": names, "message": error.message, "where": error.where, "help": error.hint}
    return {"class": names}
