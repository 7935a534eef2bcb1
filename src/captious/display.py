"""How results show themselves: the package says which module renders their tables, so that results need not know it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from captious.table import Table

__all__ = ["Displayed", "show_with"]

_renderer = ""


def show_with(module: str) -> None:
    """Let the functions ``plain_text``, ``rich_text`` and ``html`` of a module show the tables of results.

    The module is imported when the first result is shown.
    """
    global _renderer
    _renderer = module


class Displayed:
    """A result that shows as a table in a terminal and as HTML in a notebook."""

    def to_table(self) -> Table:
        """The result as a table, which every format can show."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(import_module(_renderer).plain_text(self.to_table())).rstrip("\n")

    def __rich__(self) -> object:
        return import_module(_renderer).rich_text(self.to_table())

    def _repr_html_(self) -> str:
        return str(import_module(_renderer).html(self.to_table()))
