"""Pictures of scores and differences: the values of a table with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from numbers import Real

from captious.results.pictures import Dot, Dots, Picture
from captious.results.table import Cell, Column, Row


def score_pictures(columns: Sequence[Column], rows: Sequence[Row]) -> dict[str, Picture]:
    """Return pictures of systems side by side, one for each row; for one system, one for each section.

    Args:
        columns: one for each system.
        rows: scores. Those without intervals are not drawn.
    """
    if len(columns) == 1:
        system = columns[0].head
        return _section_pictures(
            rows, -1, "score; 95% intervals", lambda section: f"{system}: {section}" if section else system
        )
    pictures: dict[str, Picture] = {}
    for row in rows:
        scored = zip(columns, row.cells[-len(columns) :], strict=True)
        dots = {column.head: dot for column, cell in scored if (dot := _dot(cell)) is not None}
        name = f"{row.section}: {row.label}" if row.section else row.label
        if dots:
            pictures[name] = Dots(name, "score; 95% intervals", dots)
    return pictures


def difference_pictures(rows: Sequence[Row], place: int, title: str) -> dict[str, Picture]:
    """Return a picture of the differences by group for each metric, with a line at zero.

    Args:
        rows: differences, with metrics as sections.
        place: position of the differences among the cells.
        title: title of the comparison.
    """
    return _section_pictures(rows, place, title, lambda section: section, line=0.0)


def _section_pictures(
    rows: Sequence[Row], place: int, x_label: str, title: Callable[[str], str], line: float | None = None
) -> dict[str, Picture]:
    pictures: dict[str, Picture] = {}
    for section, members in groupby(rows, lambda row: row.section):
        dots = {row.label: dot for row in members if (dot := _dot(row.cells[place])) is not None}
        if dots:
            pictures[section or "scores"] = Dots(title(section), x_label, dots, line)
    return pictures


def _dot(cell: Cell | None) -> Dot | None:
    if cell is None or cell.interval is None or not isinstance(cell.value, Real):
        return None
    return Dot(float(cell.value), cell.interval)
