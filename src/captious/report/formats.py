"""The formats of results, functions from a table to text or bytes. To add one, write it and enter it in ``FORMATS``.

Results show themselves through this module; see ``captious.displayed``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from captious.report.terminal import plain_text
from captious.row_files import csv_text
from captious.table import document_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from captious.table import Table


def json_text(table: Table) -> str:
    """Everything about a result as one JSON document; null for what is not a number."""
    return document_text(table.document)


def csv(table: Table) -> str:
    """The numbers of a result, unrounded, one record per line."""
    fields = [*table.records[0]] if table.records else [column.head for column in table.columns]
    return csv_text(fields, ([*record.values()] for record in table.records))


def latex(table: Table) -> str:
    """A table for papers, a tabular of booktabs."""
    from captious.report.latex import latex  # imported only here, as most results are shown in a terminal

    return latex(table)


def markdown(table: Table) -> str:
    """A table for READMEs and notes."""
    from captious.report.markdown import markdown

    return markdown(table)


def xlsx(table: Table) -> bytes:
    """A spreadsheet."""
    from captious.report.spreadsheet import xlsx

    return xlsx(table)


def presented(table: Table, format: str, **presentation: Any) -> str | bytes:
    """A table in one of ``FORMATS``, as ``Presentation`` shows it."""
    from captious.report.presentation import Presentation

    return FORMATS[format](Presentation(**presentation).of(table))


def plot(table: Table, name: str | None = None) -> Figure:
    """One of the pictures of a table, drawn; see ``captious.displayed``."""
    from captious.report.plots import draw_one

    return draw_one(table.pictures, name)


def html(table: Table) -> str:
    """A table for notebooks."""
    from captious.report.html import html

    return html(table)


def page(table: Table) -> str:
    """A page with the table, and charts of its pictures."""
    from captious.report.page.table_page import table_page

    return table_page(table)


#: By the name that ``--format`` takes.
FORMATS: Mapping[str, Callable[[Table], str | bytes]] = {
    "table": plain_text,
    "json": json_text,
    "csv": csv,
    "markdown": markdown,
    "latex": latex,
    "html": page,
    "xlsx": xlsx,
}
