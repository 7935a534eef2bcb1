"""Tables: how a result describes itself, whatever the format that shows it.

A result has a method ``to_table``. The table holds numbers, not text: formats (``captious.report.formats``) decide how
they are written and laid out. Formats know tables and no kind of result, and results know no format.
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
"""How numbers are written; "number": as scores, but never in hundredths, "rounded": with two digits."""

IntervalStyle: TypeAlias = Literal["beside", "below", "subscript"]
"""Where LaTeX has the interval of a value: beside it, on a line below, or as a subscript."""

Medium: TypeAlias = Literal["screen", "page", "paper"]
#: Media that a column can be restricted to: terminals, HTML, LaTeX.
SCREEN: Medium = "screen"
PAGE: Medium = "page"
PAPER: Medium = "paper"

#: What follows the name of an output where lower scores are better.
LOWER_IS_BETTER = "↓"


@dataclass(frozen=True)
class Cell:
    """A value in a table.

    Args:
        value: a number, text, the bounds of an interval, or None for what has no value.
        interval: of the value.
        best: it is the best of those it can be compared with.
        significant: it is a significant difference.
        marks: what stands behind it as a superscript, such as the letters of systems that are significantly worse.
        form: how it is written, if not as the other cells of its column.
        digits: digits behind the point, if not those of its form.
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
    """The common properties of the cells of a column.

    Args:
        head: its name.
        form: how its numbers are written.
        align: where its cells stand.
        group: a name above this column and its neighbors.
        in_papers: its name in papers, if that is another.
        apart: whether it moves to a line of its own below the name of the group where the group is too wide.
        marked: whether the best cells get a sign.
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
        label: what it is about.
        cells: one per column; None where there is nothing to show.
        section: a heading above this row and its neighbors.
        in_papers: the label in papers, if that is another.
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
        columns, rows: the table. Without labels, the first column says what rows are about.
        records: the numbers as flat records for csv and data frames, unrounded; all have the same keys.
        document: everything about the result as plain values that JSON has.
        title: what was measured, above the table.
        caption: the same with the number of images, as pages show it.
        label_head: a name for the labels, in papers.
        description: rows about the data, below the others.
        group_notes: group of columns -> a line below its name.
        notes: sentences below the table.
        facts: what the numbers depend on: heading -> label -> text.
        signatures: of the metrics, where rows do not have them.
        explanations: sentences below the facts.
        comments: what papers say about where the numbers come from.
        across: the values of a row, not those of a column, can be compared with each other. Papers have a row for each
            of its columns, and a column for each of its rows.
        transposed: rows are columns, and columns rows.
        interval_style: where papers have intervals.
        fold: columns of a terminal that the table is folded to.
        below: a table below, but not in papers.
        following: tables that follow, with their own notes. The records and the document of the first are of all.
        pictures: by file name without extension.
        warnings: about misleading numbers, one sentence each.
        legend: what the marks of cells mean, a sentence.
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
    """The name of an output, marked if lower scores are better."""
    return f"{name} {LOWER_IS_BETTER}" if lower_is_better else name


def best(scores: Sequence[float], lower_is_better: bool | None) -> float | None:
    """The best of several scores; None if all are equal, or if neither higher nor lower ones are better."""
    if lower_is_better is None or not min(scores) < max(scores):
        return None
    return min(scores) if lower_is_better else max(scores)


def oriented(table: Table, medium: Medium) -> Table:
    """The table as a medium shows it: its columns for that medium, with rows for columns where they change places.

    Raises:
        ParameterError: rows in sections would change places with columns where only papers have names above columns.
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
                section=_with_note(column.group, table, medium),
                in_papers=column.in_papers,
            )
            for place, column in enumerate(columns)
        ],
        label_head=table.label_head if table.across else "",
        description=(),
        across=False,
        transposed=False,
    )


def _with_note(group: str, table: Table, medium: Medium) -> str:
    """The name of a group of columns as a heading of rows, with the line that terminals have below it."""
    note = table.group_notes.get(group) if medium != PAPER else None
    return f"{group}: {note}" if note else group


def _formed(cell: Cell | None, column: Column) -> Cell | None:
    """A cell that is written as those of its column, wherever it stands."""
    return None if cell is None else replace(cell, form=cell.form or column.form)


def json_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document with values that JSON has: arrays as lists, None for numbers that are not finite."""
    return {key: json_value(value) for key, value in document.items()}


def document_text(document: Mapping[str, Any]) -> str:
    """A document as text of JSON, null for what is not a number; it ends in a line feed."""
    return json.dumps(json_document(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def json_value(value: Any) -> Any:
    """A value as ``json_document`` has it."""
    if isinstance(value, Mapping):
        return json_document(value)
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's
        return json_value(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
