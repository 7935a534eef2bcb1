"""Tables: the common representation of results for all output formats.

Every result has a method ``to_table``. The table holds numbers, not text: formats (``captious.report.formats``) decide
how to write and arrange them. Formats know only tables, and results know no format.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from captious.errors import ParameterError

if TYPE_CHECKING:
    from captious.results.pictures import Picture

Form: TypeAlias = Literal[
    "score", "number", "rounded", "difference", "effect", "p", "percent", "percent difference", "count"
]
"""Number format; "number": as scores, but never multiplied by 100, "rounded": with two digits."""

IntervalStyle: TypeAlias = Literal["beside", "below", "subscript"]
"""Position of intervals in LaTeX: beside the value, on the line below, or as a subscript."""

Medium: TypeAlias = Literal["screen", "page", "paper"]
#: Media that a column can be restricted to: terminals, HTML, LaTeX.
SCREEN: Medium = "screen"
PAGE: Medium = "page"
PAPER: Medium = "paper"

#: Suffix of the name of an output whose lower scores are better.
LOWER_IS_BETTER = "↓"


@dataclass(frozen=True)
class Cell:
    """A value in a table.

    Args:
        value: a number, text, the bounds of an interval, or None if there is no value.
        interval: interval of the value.
        best: whether it is the best of the comparable values.
        significant: whether it is a significant difference.
        marks: superscript, such as the letters of systems that are significantly worse.
        form: number format, if other than that of its column.
        digits: digits after the decimal point, if other than those of its form.
    """

    value: object
    interval: tuple[float, float] | None = None
    best: bool = False
    significant: bool = False
    marks: str = ""
    form: Form | None = None
    digits: int | None = None


@dataclass(frozen=True)
class Column:
    """Common properties of the cells of a column.

    Args:
        head: its heading.
        form: its number format.
        align: alignment of its cells.
        group: a heading above this column and its neighbors.
        in_papers: its heading in papers, if different.
        apart: whether it may be moved to a line of its own below the group heading if the group is too wide.
        marked: whether the best cells are marked.
        drawn: whether pages draw its values with their intervals.
        media: where the column is shown.
    """

    head: str
    form: Form = "score"
    align: Literal["left", "right", "center"] = "right"
    group: str = ""
    in_papers: str = ""
    apart: str = ""
    marked: bool = False
    drawn: bool = False
    media: Sequence[Medium] = (SCREEN, PAGE, PAPER)


@dataclass(frozen=True)
class Row:
    """A row.

    Args:
        label: its label.
        cells: one per column; None for an empty cell.
        section: a heading above this row and its neighbors.
        in_papers: the label in papers, if different.
        signature: everything that its scores depend on besides the captions.
    """

    label: str
    cells: Sequence[Cell | None]
    section: str = ""
    in_papers: str = ""
    signature: str = ""


@dataclass(frozen=True)
class Table:
    """A result as a table, and as data.

    Args:
        columns, rows: the table. Without labels, the first column identifies the rows.
        records: the numbers as flat records for csv and data frames, unrounded; all have the same keys.
        document: the whole result as plain JSON values.
        title: a title above the table.
        caption: the title with the number of images, for pages.
        label_head: a heading for the labels, in papers.
        description: rows about the data, below the others.
        group_notes: group of columns -> a line below its heading.
        notes: sentences below the table.
        facts: what the numbers depend on: heading -> label -> text.
        signatures: signatures of the metrics, if rows do not have them.
        explanations: sentences below the facts.
        comments: comments in tables for papers about the source of the numbers.
        across: values are comparable within rows, not within columns. Tables for papers are transposed.
        transposed: exchange rows and columns.
        interval_style: position of intervals in papers.
        fold: columns of a terminal to fold the table to.
        below: a table below, except in papers.
        following: tables that follow, with their own notes. Records and document of the first table cover all.
        pictures: pictures by file name without extension.
        warnings: warnings about misleading numbers, one sentence each.
        legend: the meaning of marks in cells, a sentence.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    records: Sequence[Mapping[str, object]]
    document: Mapping[str, Any]
    title: str = ""
    caption: str = ""
    label_head: str = ""
    description: Sequence[Row] = ()
    group_notes: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    signatures: Sequence[str] = ()
    explanations: Sequence[str] = ()
    comments: Sequence[str] = ()
    across: bool = False
    transposed: bool = False
    interval_style: IntervalStyle = "beside"
    fold: int | None = None
    below: Table | None = None
    following: Sequence[Table] = ()
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    legend: str = ""


def labeled(name: str, lower_is_better: bool | None) -> str:
    """Return the name of an output, marked if lower scores are better."""
    return f"{name} {LOWER_IS_BETTER}" if lower_is_better else name


def best(scores: Sequence[float], lower_is_better: bool | None) -> float | None:
    """Return the best of several scores; None if all are equal, or if neither direction is better."""
    if lower_is_better is None or not min(scores) < max(scores):
        return None
    return min(scores) if lower_is_better else max(scores)


def oriented(table: Table, medium: Medium) -> Table:
    """Return the table for a medium, with only its columns, and transposed if the table asks for it.

    Raises:
        ParameterError: a transposed table with sections whose columns have headings in papers only.
    """
    places = [place for place, column in enumerate(table.columns) if medium in column.media]
    columns = [table.columns[place] for place in places]
    rows = [replace(row, cells=[row.cells[place] for place in places]) for row in table.rows]
    below = [replace(row, cells=[row.cells[place] for place in places]) for row in table.description]
    if table.transposed == (table.across and medium == PAPER):
        return replace(table, columns=columns, rows=rows, description=below, transposed=False)
    if medium != PAPER and any(row.section for row in rows):
        raise ParameterError("a table of groups cannot be transposed", help="leave out --transpose (transpose=True)")
    marked = any(column.marked for column in columns)
    if medium != PAPER:
        rows += below
    return replace(
        table,
        columns=[
            Column(row.label, group=row.section, in_papers=row.in_papers, marked=marked, media=[medium]) for row in rows
        ],
        rows=[
            Row(
                column.head,
                [_formed(row.cells[place], column) for row in rows],
                section=_add_note(column.group, table, medium),
                in_papers=column.in_papers,
            )
            for place, column in enumerate(columns)
        ],
        label_head=table.label_head if table.across else "",
        description=(),
        across=False,
        transposed=False,
    )


def _add_note(group: str, table: Table, medium: Medium) -> str:
    """Return a group heading as a row heading, with its note where terminals show it."""
    note = table.group_notes.get(group) if medium != PAPER else None
    return f"{group}: {note}" if note else group


def _formed(cell: Cell | None, column: Column) -> Cell | None:
    """Return a cell with the number format of its column, so that it can be moved elsewhere."""
    return None if cell is None else replace(cell, form=cell.form or column.form)


def json_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a document to JSON values: arrays to lists, numbers that are not finite to None."""
    return {key: json_value(value) for key, value in document.items()}


def document_text(document: Mapping[str, Any]) -> str:
    """Serialize a document as JSON, with null for NaN; ends in a line feed."""
    return json.dumps(json_document(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def json_value(value: Any) -> Any:
    """Convert a value as ``json_document`` does."""
    if isinstance(value, Mapping):
        return json_document(value)
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's
        return json_value(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
