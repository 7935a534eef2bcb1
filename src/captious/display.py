"""How results show themselves: the package says which module renders them, so that results need not know it."""

from __future__ import annotations

from importlib import import_module

__all__ = ["Displayed", "show_with"]

_renderer = ""


def show_with(module: str) -> None:
    """Let a module show all results: its functions ``table``, ``text`` and ``html`` each take a result of any kind.

    ``table`` gives what rich prints, the others strings. The module is imported when the first result is shown.
    """
    global _renderer
    _renderer = module


class Displayed:
    """A result that shows as a table in a terminal and as HTML in a notebook."""

    def __repr__(self) -> str:
        return str(import_module(_renderer).text(self))

    def __rich__(self) -> object:
        return import_module(_renderer).table(self)

    def _repr_html_(self) -> str:
        return str(import_module(_renderer).html(self))
