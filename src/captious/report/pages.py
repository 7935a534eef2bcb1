"""Lines and tables of aligned columns, as plain text by themselves and through rich where there is colour.

Plain text does without rich, which takes longer to import than a system takes to be scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from captious.report.numbers import plain

__all__ = ["Cell", "Columns", "Page"]


@dataclass(frozen=True)
class Cell:
    """Text on one line, with a style of rich. Control characters are shown as blanks."""

    text: str
    style: str = ""

    @property
    def shown(self) -> str:
        return plain(self.text)

    def __rich__(self) -> Any:
        from rich.text import Text

        return Text(self.shown, style=self.style)


@dataclass(frozen=True)
class Columns:
    """A table without lines: the first column flush left, the others flush right.

    Args:
        heads: of the columns.
        rows: a cell per column.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    @property
    def lines(self) -> list[str]:
        """The table as plain text."""
        table = [[Cell(head).shown for head in self.heads], *([cell.shown for cell in row] for row in self.rows)]
        widths = [max(map(_width, column)) for column in zip(*table, strict=True)]
        lines = []
        for first, *others in table:
            cells = [first + " " * (widths[0] - _width(first))]
            for text, width in zip(map(str.rstrip, others), widths[1:], strict=True):
                cells.append(" " * (width - _width(text)) + text)
            lines.append("  ".join(cells).rstrip(" "))
        return lines

    def __rich__(self) -> Any:
        from captious.report.tables import plain_table

        table = plain_table(*self.heads)
        for row in self.rows:
            table.add_row(*row)
        return table


Part: TypeAlias = Cell | Columns


@dataclass(frozen=True)
class Page:
    """Lines and tables below each other."""

    parts: Sequence[Part]

    @property
    def text(self) -> str:
        """The page as plain text, without blanks at the ends of lines."""
        lines: list[str] = []
        for part in self.parts:
            lines += part.lines if isinstance(part, Columns) else [part.shown.rstrip(" ")]
        return "".join(f"{line}\n" for line in lines)

    def __rich__(self) -> Any:
        from rich.console import Group

        return Group(*self.parts)


def _width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
