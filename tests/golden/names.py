"""What a public name stands for: its kind, signature, bases and public attributes, but not where it is defined."""

from __future__ import annotations

import inspect
import re
from types import ModuleType
from typing import Any

__all__ = ["describe", "describe_all"]

#: Modules in annotations, such as "captious.data.tables." and "collections.abc.".
_PLACES = re.compile(r"\b(?:[a-z_][\w]*\.)+(?=[A-Za-z_])")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
#: Methods of a class that are part of its interface, though their names begin with underscores.
_SPECIAL = ("__call__", "__contains__", "__enter__", "__getitem__", "__init__", "__iter__", "__len__", "__float__")


def describe_all(module: ModuleType, names: list[str]) -> dict[str, Any]:
    """Return the descriptions of names of a module."""
    return {name: describe(getattr(module, name)) for name in sorted(names)}


def describe(found: Any) -> Any:
    """Return what a name stands for."""
    if isinstance(found, ModuleType):
        return "module"
    if inspect.isclass(found):
        return {
            "class": _signature(found),
            "bases": [base.__name__ for base in found.__bases__ if not base.__name__.startswith("_")],
            "attributes": {name: _attribute(found, name) for name in _attributes(found)},
        }
    if callable(found) and not isinstance(found, type(Any)) and hasattr(found, "__name__"):
        return {"function": _signature(found)}
    if isinstance(found, str | int | float | bool | tuple | frozenset | type(None)):
        return {"value": _plain(repr(sorted(found) if isinstance(found, frozenset) else found))}
    return {"type": type(found).__name__, "name": str(getattr(found, "name", ""))}


def _attributes(class_: type) -> list[str]:
    """Return the names of public attributes, those inherited from other packages left out."""
    own = {
        name
        for base in class_.__mro__
        if base.__module__.partition(".")[0] == "captious"
        for name in [*vars(base), *inspect.get_annotations(base)]
    }
    return sorted(name for name in own if not name.startswith("_") or name in _SPECIAL)


def _attribute(class_: type, name: str) -> Any:
    found = inspect.getattr_static(class_, name, None)
    if isinstance(found, property):
        return f"property{_returns(found.fget)}"
    if type(found).__name__ == "cached_property":
        return f"cached property{_returns(found.func)}"
    if isinstance(found, staticmethod | classmethod):
        return f"{type(found).__name__} {_signature(found.__func__)}"
    if inspect.isfunction(found):
        return f"method {_signature(found)}"
    annotations = [inspect.get_annotations(base) for base in class_.__mro__]
    annotation = next((names[name] for names in annotations if name in names), None)
    shown = [f"attribute: {_plain(str(annotation))}" if annotation is not None else "attribute"]
    if isinstance(found, str | int | float | bool | tuple | type(None)) and hasattr(class_, name):
        shown.append(f"= {_plain(repr(found))}")
    return " ".join(shown)


def _returns(function: Any) -> str:
    returned = getattr(function, "__annotations__", {}).get("return")
    return f" -> {_plain(str(returned))}" if returned is not None else ""


def _signature(function: Any) -> str:
    try:
        return _plain(str(inspect.signature(function)))
    except (TypeError, ValueError):
        return "none"


def _plain(text: str) -> str:
    return _PLACES.sub("", _ADDRESS.sub("", text)).replace("<class '", "").replace("'>", "")
