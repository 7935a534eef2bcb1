"""The formats of results. Each is a function from a table to text: to add one, write it and enter it in ``FORMATS``.

``html`` and ``rich_text`` are for results that show themselves; see ``captious.table``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from captious.report.terminal import plain_text, rich_text
from captious.row_files import csv_text
from captious.table import document_text

if TYPE_CHECKING:
    from captious.table import Table

__all__ = ["FORMATS", "csv", "html", "json_text", "latex", "page", "plain_text", "rich_text"]


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


def html(table: Table) -> str:
    """A table for notebooks."""
    from captious.report.html import html

    return html(table)


def page(table: Table) -> str:
    """A page with the table, and charts of its pictures."""
    from captious.report.page.table_page import table_page

    return table_page(table)


#: By the name that ``--format`` takes.
FORMATS: Mapping[str, Callable[[Table], str]] = {
    "table": plain_text,
    "json": json_text,
    "csv": csv,
    "latex": latex,
    "html": page,
}
