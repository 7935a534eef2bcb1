"""``Presentation``: how a table is shown, whatever its format: in hundredths, under other names, transposed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

from captious.errors import UnknownNameError
from captious.metrics.contract.other_names import NAMES, Names, renamed
from captious.table import Form, IntervalStyle, Table

__all__ = ["INTERVAL_STYLES", "NAMES", "Presentation"]

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
                replace(row, label=renamed(row.label, self.names), section=renamed(row.section, self.names))
                for row in rows
            ]
        return replace(
            table,
            columns=columns,
            rows=rows,
            below=None if table.below is None else self.of(table.below),
            transposed=table.transposed != self.transpose,
            interval_style=self.interval_style,
        )
