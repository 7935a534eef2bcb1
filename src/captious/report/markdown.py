"""Tables as Markdown, as GitHub and notebooks render it, after a comment that says what the numbers depend on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from captious.report import numbers
from captious.report.best_values import best_looking
from captious.results.table import PAPER, Cell, Column, Table, oriented

_RULES = {"left": ":--", "right": "--:", "center": ":-:"}


def markdown(table: Table) -> str:
    """Return a table as Markdown; the best of several values is bold."""
    below, following = table.below, table.following
    table = oriented(table, PAPER)
    rows = [*table.rows, *table.description]
    is_best = best_looking(table) + [[False] * len(table.columns)] * len(table.description)
    sections = [row.section for row in rows]
    labels = [[table.label_head] * (any(sections) + any(row.label for row in table.rows))][0]
    heads = [*labels, *map(_head, table.columns)]
    rules = [_RULES["left"]] * len(labels) + [_RULES[column.align] for column in table.columns]
    lines = [_line(heads), _line(rules)]
    for number, (row, best) in enumerate(zip(rows, is_best, strict=True)):
        section = row.section if number == 0 or sections[number - 1] != row.section else ""
        labels_of_row = [section, row.in_papers or row.label][2 - len(labels) :]
        lines.append(_line([*map(_escaped, labels_of_row), *map(_value, row.cells, table.columns, best)]))
    comments = [numbers.single_line(comment).replace("--", "- -") for comment in table.comments]
    above = ["<!--", *comments, "-->", ""] if comments else []
    legend = ["", _escaped(table.legend)] if table.legend else []
    text = "\n".join([*above, *lines, *legend, ""])
    for part in (*([below] if below else []), *following):
        text = f"{text}\n{_escaped(part.title)}\n\n{markdown(part)}".rstrip("\n") + "\n"
    return text


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _head(column: Column) -> str:
    name = column.in_papers or column.head
    return _escaped(f"{column.group}: {name}" if column.group else name)


def _value(cell: Cell | None, column: Column, best: bool) -> str:
    if cell is None:
        return ""
    value = numbers.format_cell(cell, column)
    if isinstance(cell.value, tuple):
        return numbers.with_minus_signs(
            f"[{', '.join(numbers.format_bounds(cell.value, cell.form or column.form, cell.digits))}]"
        )
    value = _escaped(value) if isinstance(cell.value, str) else _escaped(numbers.with_minus_signs(value))
    value = f"**{value}**" if best else value
    value += f"<sup>{_escaped(cell.marks)}</sup>" if cell.marks else ""
    span = numbers.format_cell_interval(cell, column)
    return value + (numbers.with_minus_signs(f" [{', '.join(span)}]") if span else "")


def _escaped(text: str) -> str:
    """Escape text for Markdown, on one line."""
    return re.sub(r"([\\`*_\[\]<>|$~])", r"\\\1", numbers.single_line(text))
