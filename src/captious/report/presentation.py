"""``Presentation``: how a table is shown, whatever its format: in hundredths, under other names, transposed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

from captious.errors import UnknownNameError
from captious.metrics.contract.catalogue import Names, renamed
from captious.table import Cell, Column, Form, IntervalStyle, Table

INTERVAL_STYLES: tuple[IntervalStyle, ...] = get_args(IntervalStyle)
_IN_HUNDREDTHS: Mapping[Form, Form] = {"score": "percent", "difference": "percent difference"}


@dataclass(frozen=True, kw_only=True)
class Presentation:
    """How a table is shown.

    Args:
        percent: show scores in hundredths with one decimal, as papers do.
        names: whose names of metrics to show: ours (captious), those of the COCO toolkit (Bleu_4, CIDEr), or the
            abbreviations of papers (B@4, C).
        transpose: exchange rows and columns. Tables of scores have a row for each metric, and in papers (LaTeX,
            Markdown) a row for each system.
        interval_style: where LaTeX has intervals: beside scores, on a line below them, or as their subscripts.

    Raises:
        UnknownNameError: no such names, or no such style.
    """

    percent: bool = False
    names: Names = "captious"
    transpose: bool = False
    interval_style: IntervalStyle = "beside"

    def __post_init__(self) -> None:
        renamed("", self.names)
        if self.interval_style not in INTERVAL_STYLES:
            raise UnknownNameError(
                f"there is no style of intervals {self.interval_style!r}", help=f"choose {', '.join(INTERVAL_STYLES)}"
            )

    def of(self, table: Table) -> Table:
        """The table as it is to be shown."""
        columns = table.columns
        if self.percent:
            columns = [replace(column, form=_IN_HUNDREDTHS.get(column.form, column.form)) for column in columns]
        rows = table.rows
        if self.names != "captious":
            rows = [
                replace(
                    row,
                    label=renamed(row.label, self.names),
                    section=renamed(row.section, self.names),
                    cells=[self._cell(cell, column) for cell, column in zip(row.cells, columns, strict=True)],
                )
                for row in rows
            ]
            if not any(row.label for row in rows):  # a study, whose columns are not systems
                columns = [replace(column, head=renamed(column.head, self.names)) for column in columns]
        return replace(
            table,
            columns=columns,
            rows=rows,
            below=None if table.below is None else self.of(table.below),
            following=[*map(self.of, table.following)],
            transposed=table.transposed != self.transpose,
            interval_style=self.interval_style,
        )

    def _cell(self, cell: Cell | None, column: Column) -> Cell | None:
        """A cell, in which a metric has its name of the others."""
        if cell is None or column.head != "metric" or not isinstance(cell.value, str):
            return cell
        return replace(cell, value=renamed(cell.value, self.names))
