"""Tables: how a result describes itself, whatever the format that shows it.

A result has a method ``to_table``. The table holds numbers, not text: formats (``captious.report.formats``) decide how
they are written and laid out. Formats know tables and no kind of result, and results know no format.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from captious.pictures import Picture

__all__ = [
    "LOWER_IS_BETTER",
    "PAGE",
    "PAPER",
    "SCREEN",
    "Cell",
    "Column",
    "Displayed",
    "Form",
    "Row",
    "Table",
    "best",
    "document_text",
    "json_document",
    "json_value",
    "labeled",
]

Form: TypeAlias = Literal["score", "rounded", "difference", "effect", "p", "percent", "count"]
"""How the numbers of a column are written; "rounded": with two digits, "percent": in hundredths."""

Medium: TypeAlias = Literal["screen", "page", "paper"]
#: Media that a column can be restricted to: terminals, HTML, LaTeX.
SCREEN: Medium = "screen"
PAGE: Medium = "page"
PAPER: Medium = "paper"

#: What follows the name of an output of which lower scores are better.
LOWER_IS_BETTER = "↓"


@dataclass(frozen=True)
class Cell:
    """A value in a table.

    Args:
        value: a number, text, the bounds of an interval, or None for what has no value.
        interval: of the value.
        best: it is the best of those it can be compared with.
        significant: it is a significant difference.
    """

    value: object
    interval: tuple[float, float] | None = None
    best: bool = False
    significant: bool = False


@dataclass(frozen=True)
class Column:
    """What the cells of a column have in common.

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
        across_in_papers: papers have a row for each column, and a column for each row.
        fold: columns of a terminal that the table is folded to.
        examples: a table below, for terminals.
        pictures: by file name without extension.
        warnings: about misleading numbers, one sentence each.
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
    across_in_papers: bool = False
    fold: int | None = None
    examples: Table | None = None
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    warnings: Sequence[str] = ()


def labeled(name: str, lower_is_better: bool | None) -> str:
    """The name of an output, marked if lower scores are better."""
    return f"{name} {LOWER_IS_BETTER}" if lower_is_better else name


def best(scores: Sequence[float], lower_is_better: bool | None) -> float | None:
    """The best of several scores; None if all are equal, or if neither higher nor lower ones are better."""
    if lower_is_better is None or not min(scores) < max(scores):
        return None
    return min(scores) if lower_is_better else max(scores)


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


#: The module whose ``plain_text``, ``rich_text`` and ``html`` show tables; imported when the first result is shown.
_RENDERER = "captious.report.formats"


class Displayed:
    """A result that shows as a table in a terminal and as HTML in a notebook."""

    def to_table(self) -> Table:
        """The result as a table, which every format can show."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(import_module(_RENDERER).plain_text(self.to_table())).rstrip("\n")

    def __rich__(self) -> object:
        return import_module(_RENDERER).rich_text(self.to_table())

    def _repr_html_(self) -> str:
        return str(import_module(_RENDERER).html(self.to_table()))
