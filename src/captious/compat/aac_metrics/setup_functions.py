"""Functions that programs call before scoring: downloads, paths and the check of Java, none of which captious needs."""

from __future__ import annotations

import os
import tempfile
from typing import Any, TypeVar

__all__ = ["SETUP", "check_java_path", "download_metrics", "duplicate_list"]

T = TypeVar("T")


def download_metrics(*arguments: Any, **options: Any) -> None:
    """Do nothing; the toolkit downloads jars and models."""


def check_java_path(java_path: object) -> bool:
    """Return True, as Java is not needed."""
    return True


def duplicate_list(lst: list[T], sizes: list[int]) -> list[T]:
    """Repeat each element as often as its size says.

    Raises:
        ValueError: not as many sizes as elements.
    """
    if len(lst) != len(sizes):
        raise ValueError(f"Invalid arguments lengths. (found {len(lst)=} != {len(sizes)=})")
    return [element for element, size in zip(lst, sizes, strict=True) for _ in range(size)]


def _get_default(name: str) -> Any:
    def get() -> str:
        return _paths[name]

    get.__name__ = get.__qualname__ = f"get_default_{name}_path"
    get.__doc__ = "The path that was set, or the toolkit's own default. Nothing uses it."
    return get


def _set_default(name: str) -> Any:
    def keep(value: object) -> None:
        _paths[name] = _DEFAULTS[name] if value is None else str(value)

    keep.__name__ = keep.__qualname__ = f"set_default_{name}_path"
    keep.__doc__ = "Keep a path; None for the toolkit's own default. Nothing uses it."
    return keep


_DEFAULTS = {"cache": os.path.expanduser("~/.cache"), "java": "java", "tmp": tempfile.gettempdir()}
_paths = {**_DEFAULTS}
#: The functions of ``utils.globals``, which the package has, too.
SETUP = {function.__name__: function for name in _DEFAULTS for function in (_get_default(name), _set_default(name))}
