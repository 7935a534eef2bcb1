"""Results as tables and pictures, and how they are displayed in terminals and notebooks."""

from __future__ import annotations

import inspect
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from itertools import groupby
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, TypedDict, TypeVar, Unpack, cast

from captious.errors import ParameterError, UnknownNameError, needed_for, option
from captious.files import whole_file
from captious.plugins import choices

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    from matplotlib.figure import Figure
    from numpy.typing import NDArray


# Data of pictures of results: curves, values with intervals, rankings, matrices and point clouds.
#
# ``captious.report.plots`` draws them to files, and pages draw them as charts.


@dataclass(frozen=True, eq=False)
class Curve:
    """A line.

    Args:
        x, y: float64[n].
        low, high: float64[n], a 95% interval around y, or None.
        points: draw points instead of a line.
        names: a label for each point, shown beside it unless empty; none by default.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    points: bool = False
    names: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Curves:
    """Lines in one picture: label -> line. The x axis can be logarithmic."""

    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, Curve]
    logarithmic: bool = False


def scatter(
    title: str, x: NDArray[np.float64], y: NDArray[np.float64], names: Sequence[str], x_label: str, y_label: str
) -> Curves:
    """Build a picture with a labeled point for each system; float64[n] each."""
    return Curves(title, x_label, y_label, {"systems": Curve(x, y, points=True, names=names)})


@dataclass(frozen=True, eq=False)
class Matrix:
    """A number for every pair of labels, -1 to 1; float64[n, n]."""

    title: str
    labels: Sequence[str]
    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points in a plane.

    Args:
        points: float64[n, 2], the points to draw.
        outline: float64[m, 2], a closed line around most points.
        center: float64[2], the center of all points.
    """

    points: NDArray[np.float64]
    outline: NDArray[np.float64]
    center: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Clouds:
    """Clouds of points in one picture: label -> cloud. Both axes have the same unit."""

    title: str
    x_label: str
    y_label: str
    clouds: Mapping[str, Cloud]


@dataclass(frozen=True)
class Dot:
    """A value, with its 95% interval or None."""

    value: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Dots:
    """Values in a column: label -> value. A line marks the first value, or another one."""

    title: str
    x_label: str
    rows: Mapping[str, Dot]
    line: float | None = None

    @property
    def marked(self) -> float | None:
        """The position of the line; None if there are no values."""
        if self.line is not None or not self.rows:
            return self.line
        return next(iter(self.rows.values())).value


@dataclass(frozen=True, eq=False)
class Ranking:
    """Values with their intervals and ranks, the best first: label -> value. Values of the same rank look alike.

    Args:
        title: the title.
        x_label: what the values are.
        rows: the values.
        ranks: the rank of each, None if unranked.
    """

    title: str
    x_label: str
    rows: Mapping[str, Dot]
    ranks: Sequence[int | None]


Picture: TypeAlias = Curves | Matrix | Clouds | Dots | Ranking


# Tables: the common representation of results for all output formats.
#
# Every result has a method ``to_table``. The table holds numbers, not text: formats (``captious.report.formats``)
# decide how to write and arrange them. Formats know only tables, and results know no format.

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
        raise ParameterError("a table of groups cannot be transposed", hint=f"leave out {option('transpose')}")
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


# Pictures of scores and differences: the values of a table with their intervals.


def score_pictures(columns: Sequence[Column], rows: Sequence[Row], level: str) -> dict[str, Picture]:
    """Return pictures of systems side by side, one for each row; for one system, one for each section.

    Args:
        columns: one for each system.
        rows: scores. Those without intervals are not drawn.
        level: the level of the intervals, as text.
    """
    x_label = f"score; {level} intervals"
    if len(columns) == 1:
        return section_pictures(rows, -1, x_label, columns[0].head)
    pictures: dict[str, Picture] = {}
    for row in rows:
        scored = zip(columns, row.cells[-len(columns) :], strict=True)
        dots = {column.head: dot for column, cell in scored if (dot := _dot(cell)) is not None}
        name = f"{row.section}: {row.label}" if row.section else row.label
        if dots:
            pictures[name] = Dots(name, x_label, dots)
    return pictures


def section_pictures(
    rows: Sequence[Row], place: int, x_label: str, title: str = "", line: float | None = None
) -> dict[str, Picture]:
    """Return a picture of the values in a column for each section.

    Args:
        rows: the rows. Values without intervals are not drawn.
        place: position of the values among the cells.
        x_label: what the values are.
        title: beginning of each title, before the section.
        line: where a line is drawn.
    """
    pictures: dict[str, Picture] = {}
    for section, members in groupby(rows, lambda row: row.section):
        dots = {row.label: dot for row in members if (dot := _dot(row.cells[place])) is not None}
        if dots:
            pictures[section or "scores"] = Dots(": ".join(filter(None, (title, section))), x_label, dots, line)
    return pictures


def _dot(cell: Cell | None) -> Dot | None:
    if cell is None or cell.interval is None or not isinstance(cell.value, Real):
        return None
    return Dot(float(cell.value), cell.interval)


# Equality of results by value.


class ByValue:
    """Data that is equal to data of the same values, undefined numbers (nan) included: for frozen dataclasses."""

    def __eq__(self, other: object) -> bool:
        return _comparable(self) == _comparable(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(_comparable(self))


def _comparable(value: Any) -> Any:
    """Return a value in a form in which undefined numbers are equal."""
    if is_dataclass(value):
        return tuple(_comparable(getattr(value, part.name)) for part in fields(value))
    if isinstance(value, tuple):
        return tuple(map(_comparable, value))
    return None if isinstance(value, float) and math.isnan(value) else value


# Display of results in terminals and notebooks, as Markdown, LaTeX, CSV, data frames and pictures.
#
# A result only describes itself as a table (``captious.tables``); output formats are imported when they are
# used.

Key = TypeVar("Key")
Value = TypeVar("Value", covariant=True)


def optional_library(name: str) -> Any:
    """Import a library that has an extra of the same name.

    Raises:
        MissingExtraError: it is not installed.
    """
    with needed_for("a data frame", name):
        return import_module(name)


#: The module that shows tables; imported when the first result is shown.
_RENDERER = "captious.report.formats"


class TableOptions(TypedDict, total=False):
    """Options of ``to_table`` for some results.

    Args:
        intervals: show 95% intervals of scores.
        examples: number of images to show below a comparison, those on which the systems differ most.
    """

    intervals: bool
    examples: int


class Displayed:
    """A result that is shown as a table in terminals and as HTML in notebooks, and exported for papers and programs.

    ``options`` of all methods are those of ``to_table``, which differ between results.
    """

    def to_table(self) -> Table:
        """Return the result as a table, which every format can show."""
        raise NotImplementedError

    def _table(self, **options: Unpack[TableOptions]) -> Table:
        own = inspect.signature(self.to_table).parameters
        if foreign := next((name for name in options if name not in own), None):
            takes = f"its options are {', '.join(own)}" if own else "it has no options"
            raise ParameterError(f"the table of a {type(self).__name__} has no option {foreign!r}", hint=takes)
        table: Table = cast(Any, self).to_table(**options)
        return table

    def __repr__(self) -> str:
        return str(_formats().plain_text(self.to_table())).rstrip("\n")

    def __rich__(self) -> object:
        return _formats().rich_text(self.to_table())

    def _repr_html_(self) -> str:
        return str(_formats().notebook_html(self.to_table()))

    def _ipython_key_completions_(self) -> list[object]:
        return [*self] if isinstance(self, Mapping) else []

    def to_markdown(
        self,
        *,
        percent: bool = False,
        naming: Literal["captious", "toolkit", "paper"] = "captious",
        transpose: bool = False,
        **options: Unpack[TableOptions],
    ) -> str:
        """Return the table as Markdown.

        Args:
            percent: multiply scores by 100 and show one decimal.
            naming: names of metrics: those of captious, of the COCO toolkit (CIDEr), or abbreviations of papers (C).
            transpose: exchange rows and columns.

        Raises:
            UnknownNameError: unknown ``naming``.
        """
        presentation = {"percent": percent, "naming": naming, "transpose": transpose}
        return str(_formats().presented(self._table(**options), "md", **presentation))

    def to_latex(
        self,
        *,
        percent: bool = False,
        naming: Literal["captious", "toolkit", "paper"] = "captious",
        transpose: bool = False,
        interval_style: IntervalStyle = "beside",
        **options: Unpack[TableOptions],
    ) -> str:
        """Return the table as LaTeX, a tabular for the package booktabs.

        Args:
            percent, naming, transpose: as for ``to_markdown``.
            interval_style: intervals "beside" scores, "below" them, or as their "subscript".

        Raises:
            UnknownNameError: unknown ``naming`` or style.
        """
        presentation = {"percent": percent, "naming": naming, "transpose": transpose, "interval_style": interval_style}
        return str(_formats().presented(self._table(**options), "tex", **presentation))

    def to_dict(self) -> dict[str, Any]:
        """Return the whole result as plain JSON values."""
        return json_document(self.to_table().document)

    def to_json(self) -> str:
        """Return the whole result as a JSON document: the values of ``to_dict``, with null for undefined numbers."""
        return document_text(self.to_dict())

    def to_records(self) -> list[Mapping[str, Any]]:
        """Return all numbers, unrounded, as flat records: the rows of ``to_csv``, ``to_pandas`` and ``to_polars``."""
        return [*self.to_table().records]

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the rows of ``to_records`` to a file, which appears complete or not at all.

        Raises:
            OutputError: the file cannot be written.
        """
        with whole_file(path) as file:
            file.write(_formats().csv(self.to_table()))

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows of ``to_records`` as a pandas frame.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return optional_library("pandas").DataFrame(self.to_records())

    def to_polars(self) -> polars.DataFrame:
        """Return the rows of ``to_records`` as a polars frame.

        Raises:
            MissingExtraError: polars is not installed.
        """
        return optional_library("polars").DataFrame(self.to_records(), strict=False, infer_schema_length=None)  # type: ignore[no-any-return]

    def plot(self, name: str | None = None) -> Figure:
        """Plot the result as a matplotlib figure.

        Args:
            name: which picture, for a result that has several; by default the first.

        Raises:
            MissingExtraError: matplotlib is not installed.
            UnknownNameError: no picture of this name.
            ParameterError: the result has no pictures.
        """
        figure: Figure = _formats().plot(self._pictured(), name)
        return figure

    def _pictured(self) -> Table:
        """Return the table with the pictures that ``plot`` draws: that with intervals, if there is one."""
        has_intervals = "intervals" in inspect.signature(self.to_table).parameters
        return self._table(intervals=True) if has_intervals else self.to_table()


class DisplayedMapping(Displayed, Mapping[Key, Value]):
    """An ordered mapping of named parts; ``name in result`` also accepts aliases.

    Subclasses set ``_parts``, and return the error for an unknown name from ``_unknown``.
    """

    _parts: dict[Key, Value]
    #: The problem of an unknown name, with {name!r}, and what precedes the known names.
    _unknown: ClassVar[tuple[str, str]]

    def label_of(self, name: object) -> Key | None:
        """Return the name of a part for one of its aliases; None if there is no such part."""
        return name if name in self._parts else None

    def __getitem__(self, name: Key) -> Value:
        label = self.label_of(name)
        if label is None:
            raise self.unknown(name)
        return self._parts[label]

    def unknown(self, name: object) -> UnknownNameError:
        """Return the error for an unknown name."""
        problem, listing = self._unknown
        names = [*map(str, self._parts)]
        return UnknownNameError(problem.format(name=name), hint=choices(name, names, listing))

    def __contains__(self, name: object) -> bool:
        return self.label_of(name) is not None

    def __iter__(self) -> Iterator[Key]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def _formats() -> Any:
    return import_module(_RENDERER)
