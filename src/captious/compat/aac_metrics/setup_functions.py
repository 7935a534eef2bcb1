"""What programs call before they score: downloads, paths and the check of Java, of which captious needs none."""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["SETUP", "check_java_path", "download_metrics", "duplicate_list"]

T = TypeVar("T")


def download_metrics(*arguments: Any, **options: Any) -> None:
    """Does nothing, where the toolkit downloads jars and models."""


def check_java_path(java_path: object) -> bool:
    """True: no Java is needed."""
    return True


def duplicate_list(lst: list[T], sizes: list[int]) -> list[T]:
    """Each element as often as its size says.

    Raises:
        ValueError: not as many sizes as elements.
    """
    if len(lst) != len(sizes):
        raise ValueError(f"Invalid arguments lengths. (found {len(lst)=} != {len(sizes)=})")
    return [element for element, size in zip(lst, sizes, strict=True) for _ in range(size)]


def _setter(name: str) -> Any:
    def ignore(value: object) -> None:
        return None

    ignore.__name__ = ignore.__qualname__ = name
    ignore.__doc__ = "Does nothing: no process is started."
    return ignore


#: The functions of ``utils.globals`` that programs call.
SETUP = {name: _setter(name) for name in ("set_default_cache_path", "set_default_java_path", "set_default_tmp_path")}
