"""Output formats of results: functions from a table to text or bytes. To add one, write it and enter it in ``FORMATS``.

``Presentation`` determines how a table is shown in any format. Caption scores are written to files of rows. Results
display themselves through this module; see ``captious.results.displayed``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from captious.entry_points import deferred
from captious.errors import UnknownNameError
from captious.files.row_files import check_row_file, csv_text, write_rows
from captious.metrics.contract.catalogue import NamingScheme, label_in_scheme
from captious.report.terminal import plain_text
from captious.results.table import Cell, Column, Form, IntervalStyle, Table, document_text, json_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from captious.evaluation import Report


INTERVAL_STYLES: tuple[IntervalStyle, ...] = get_args(IntervalStyle)
_PERCENT_FORMS: Mapping[Form, Form] = {"score": "percent", "difference": "percent difference"}


@dataclass(frozen=True, kw_only=True)
class Presentation:
    """Options for the presentation of a table.

    Args:
        percent: multiply scores by 100 and show one decimal, as papers do.
        naming: names of metrics: those of captious, of the COCO toolkit (Bleu_4, CIDEr), or the abbreviations of papers
            (B@4, C).
        transpose: exchange rows and columns. Tables of scores have a row for each metric, and in papers (LaTeX,
            Markdown) a row for each system.
        interval_style: position of intervals in LaTeX: beside scores, on a line below them, or as their subscripts.

    Raises:
        UnknownNameError: unknown ``naming`` or style.
    """

    percent: bool = False
    naming: NamingScheme = "captious"
    transpose: bool = False
    interval_style: IntervalStyle = "beside"

    def __post_init__(self) -> None:
        label_in_scheme("", self.naming)
        if self.interval_style not in INTERVAL_STYLES:
            raise UnknownNameError(
                f"there is no style of intervals {self.interval_style!r}", help=f"choose {', '.join(INTERVAL_STYLES)}"
            )

    def apply(self, table: Table) -> Table:
        """Return the table as it is to be shown."""
        columns = table.columns
        if self.percent:
            columns = [replace(column, form=_PERCENT_FORMS.get(column.form, column.form)) for column in columns]
        rows = table.rows
        if self.naming != "captious":
            rows = [
                replace(
                    row,
                    label=label_in_scheme(row.label, self.naming),
                    section=label_in_scheme(row.section, self.naming),
                    cells=[self._cell(cell, column) for cell, column in zip(row.cells, columns, strict=True)],
                )
                for row in rows
            ]
            if not any(row.label for row in rows):  # a study, whose columns are not systems
                columns = [replace(column, head=label_in_scheme(column.head, self.naming)) for column in columns]
        return replace(
            table,
            columns=columns,
            rows=rows,
            below=None if table.below is None else self.apply(table.below),
            following=[*map(self.apply, table.following)],
            transposed=table.transposed != self.transpose,
            interval_style=self.interval_style,
        )

    def _cell(self, cell: Cell | None, column: Column) -> Cell | None:
        """Return a cell, with the name of a metric replaced according to ``naming``."""
        if cell is None or column.head != "metric" or not isinstance(cell.value, str):
            return cell
        return replace(cell, value=label_in_scheme(cell.value, self.naming))


def json_text(table: Table) -> str:
    """Return a whole result as one JSON document, with null for NaN."""
    return document_text(table.document)


def csv(table: Table) -> str:
    """Return the numbers of a result, unrounded, one record per line."""
    fields = [*table.records[0]] if table.records else [column.head for column in table.columns]
    return csv_text(fields, ([*record.values()] for record in table.records))


#: A tabular of booktabs, a table for READMEs, a spreadsheet, a table for notebooks, and a page with charts of pictures.
latex = deferred("report.latex:latex")
markdown = deferred("report.markdown:markdown")
xlsx = deferred("report.spreadsheet:xlsx")
notebook_html = deferred("report.html:notebook_html")
page = deferred("report.page.table_page:table_page")


def presented(table: Table, format: str, **presentation: Any) -> str | bytes:
    """Return a table in one of ``FORMATS``, as ``Presentation`` shows it."""
    return FORMATS[format](Presentation(**presentation).apply(table))


def plot(table: Table, name: str | None = None) -> Figure:
    """Draw one of the pictures of a table; see ``captious.results.displayed``."""
    from captious.report.plots import draw_one

    return draw_one(table.pictures, name)


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


#: Extensions of files of caption scores.
CAPTION_FORMATS = (".jsonl", ".csv", ".parquet")


def check_caption_file(path: str | os.PathLike[str]) -> None:
    """Check that ``write_captions`` can write a file, as ``check_row_file`` does."""
    check_row_file(path, CAPTION_FORMATS, "caption scores")


def write_captions(path: str | os.PathLike[str], reports: Sequence[Report]) -> None:
    """Write caption scores, one row per image: id, candidate, one column per output; `system` if there are several.

    Several candidates per image are a list in column `candidates`; in csv, the list as JSON.

    Parquet files have the signatures in their metadata, under the names of the columns.

    Raises:
        ParameterError, MissingExtraError: as ``check_caption_file`` does.
        OutputError: the file cannot be written.
    """
    check_caption_file(path)
    columns = [*reports[0].columns()]
    signatures = {name: result.signature for name, result in reports[0].items()}
    write_rows(path, ["system", *columns] if len(reports) > 1 else columns, _rows(reports), signatures)


def _rows(reports: Sequence[Report]) -> Iterator[tuple[Any, ...]]:
    """Yield one row per system and image, plain values; None if a caption has no score."""
    for report in reports:
        system = (report.system,) if len(reports) > 1 else ()
        for row in zip(*map(json_value, report.columns().values()), strict=True):
            yield system + row
