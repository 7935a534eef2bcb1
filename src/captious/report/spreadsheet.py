"""Tables as spreadsheets (.xlsx): a sheet with the table as shown, and one with all numbers unrounded."""

from __future__ import annotations

import io
from collections.abc import Iterator
from numbers import Real
from typing import Any

from captious.errors import needed_for
from captious.report import numbers
from captious.results.table import PAPER, Cell, Column, Form, Table, json_value, oriented

_DIGITS: dict[Form, str] = {
    "score": "0.0000",
    "number": "0.0000",
    "rounded": "0.00",
    "difference": "+0.0000;-0.0000",
    "effect": "+0.000;-0.000",
    "p": "0.000",
    "percent": "0.0",
    "percent difference": "+0.0;-0.0",
    "count": "#,##0",
}


def xlsx(table: Table) -> bytes:
    """Return a workbook with the sheets "table" and "data". Its numbers are numbers, with a number format.

    Raises:
        MissingExtraError: openpyxl is not installed.
    """
    with needed_for("writing a spreadsheet", "xlsx"):
        from openpyxl import Workbook
        from openpyxl.styles import Font
    book = Workbook()
    sheet = book.active
    sheet.title = "table"
    for part in (table, *table.following):
        view = oriented(part, PAPER)
        sheet.append([part.label_head, *(text for column in view.columns for text in _heads(view, column))])
        for row in view.rows:
            label = numbers.single_line(f"{row.section}, {row.label}" if row.section else row.in_papers or row.label)
            pieces = [piece for place, cell in enumerate(row.cells) for piece in _pieces(view, place, cell)]
            sheet.append([_text(label), *(value for value, _, _ in pieces)])
            for place, (_, form, bold) in enumerate(pieces, start=2):
                target = sheet.cell(sheet.max_row, place)
                target.number_format, target.font = form, Font(bold=bold)
        for note in part.comments:
            sheet.append([_text(note)])
    data = book.create_sheet("data")
    for number, record in enumerate(table.records):
        if number == 0:
            data.append([*record])
        data.append([_text(value) if isinstance(value, str) else json_value(value) for value in record.values()])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _text(value: str) -> str:
    """Return text that no program interprets as a formula."""
    plain = numbers.single_line(value)
    return f"'{plain}" if plain[:1] in ("=", "+", "@") else plain


def _heads(table: Table, column: Column) -> Iterator[str]:
    """Return the heading of a column, and those of its interval columns."""
    name = numbers.single_line(column.in_papers or column.head)
    name = f"{column.group}: {name}" if column.group else name
    yield _text(name)
    if _has_intervals(table, table.columns.index(column)):
        yield from (f"{name} low", f"{name} high")


def _has_intervals(table: Table, place: int) -> bool:
    return any(cell and cell.interval for cell in (row.cells[place] for row in table.rows))


def _pieces(table: Table, place: int, cell: Cell | None) -> Iterator[tuple[Any, str, bool]]:
    """Return the value of a cell with its number format and whether it is bold, and the ends of its interval."""
    form = (cell and cell.form) or table.columns[place].form
    scale = 100 if form.startswith("percent") else 1
    value: Any = None if cell is None else cell.value
    if isinstance(value, Real) and not isinstance(value, bool):
        value = json_value(float(value) * scale)
    elif value is not None:
        value = _text(numbers.format_value(value, form))
    yield value, _DIGITS[form], cell is not None and cell.best
    if _has_intervals(table, place):
        ends = (None, None) if cell is None or cell.interval is None else cell.interval
        digits = _DIGITS["percent" if scale > 1 else "score"]
        yield from ((None if end is None else json_value(float(end) * scale), digits, False) for end in ends)
