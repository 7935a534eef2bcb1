"""Results of ``reproduce``: figures beside published ones, and the index of all tables of papers, as tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from captious.displayed import Displayed
from captious.evaluation.resampling import Sampling
from captious.judgment.judgment_table import data_text
from captious.judgment.papers import paper_names
from captious.judgment.papers.paper import Paper, PaperTable
from captious.pictures import Picture
from captious.table import Cell, Column, Form, Row, Table, json_document
from captious.version import __version__

_CLAUSE_END = re.compile(r"[:;(]")
_MOST_IN_CELL = 60  # characters of a reason
_FOLD = 110  # columns of a terminal


@dataclass(frozen=True)
class Reproduced:
    """One figure of a table.

    Args:
        table, column, row: where it is; the column is empty for a table that nothing here computes.
        value: what was computed, a fraction where the paper prints hundredths; None if it cannot be computed here.
        interval: 95%, if there is one.
        published: the published figure, on the same scale; None if there is none at hand.
        unit: one unit of its last digit.
        reason: what prevents the computation; empty if nothing does.
        percent: the paper prints hundredths.
        p: of no correlation over systems; None where systems are not compared.
    """

    table: str
    column: str
    row: str
    value: float | None
    interval: tuple[float, float] | None
    published: float | None
    unit: float
    reason: str = ""
    percent: bool = False
    p: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours less the published figure."""
        return None if self.value is None or self.published is None else self.value - self.published

    @property
    def verdict(self) -> str:
        """Their comparison: "same" as printed, "within interval", "differs"; or why they cannot be compared."""
        if self.reason:
            return self.reason
        if self.value is None:
            return "undefined here"
        if self.published is None:
            return "published figure not at hand"
        if abs(self.value - self.published) <= self.unit / 2 + 1e-9:
            return "same"
        if self.interval is not None and self.interval[0] <= self.published <= self.interval[1]:
            return "within interval"
        return "differs"


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Displayed):
    """Tables of a paper, every figure beside the published one. Displayed as a table.

    Args:
        paper: the paper.
        tables: those that were computed.
        figures: their figures, table by table and column by column.
        sampling: of the intervals.
        signatures: metric -> everything that its scores depend on besides the captions.
        data: files that were read: name -> CRC-32.
        pictures: figures by file name without extension.
        warnings: about misleading numbers, one sentence each.
        seconds: CPU time of each table, of all cores together; what an earlier table computed takes none.
    """

    paper: Paper
    tables: Sequence[PaperTable]
    figures: Sequence[Reproduced]
    sampling: Sampling
    signatures: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    def to_table(self) -> Table:
        """One row per figure, in a section for every column of the paper's tables."""
        places = {table.name: table for table in self.tables}
        has_p = any(figure.p is not None for figure in self.figures)
        numbers: dict[str, int] = {}
        rows = [
            Row(
                figure.row,
                [
                    Cell(figure.value, form=_form(figure)),
                    Cell(figure.interval, form=_form(figure)),
                    *([None if figure.p is None else Cell(figure.p)] if has_p else []),
                    Cell(figure.published, form=_form(figure)),
                    Cell(figure.difference, form="percent difference" if figure.percent else "difference"),
                    Cell(_verdict(figure, places[figure.table], numbers)),
                ],
                section=f"{figure.table} ({places[figure.table].place})" + (figure.column and f": {figure.column}"),
            )
            for figure in self.figures
        ]
        notes = [f"[{number}] {reason}" for reason, number in numbers.items()]
        notes += [f"{table.name}: {table.shows}" for table in self.tables]
        for label in ("differs", "needs", "remark", "command"):
            notes += [f"{table.name} {label}: {text}" for table in self.tables if (text := getattr(table, label))]
        facts = {"data": data_text(self.data)} if self.data else {}
        signatures = [*dict.fromkeys(self.signatures.values())]
        title = f"{self.paper.title}: ours, and as published"
        return Table(
            columns=[
                Column("ours"),
                Column(f"{self.sampling.level:.0%} interval"),
                *([Column("p", "p", in_papers="p")] if has_p else []),
                Column("published"),
                Column("difference", "difference"),
                Column("verdict", align="left"),
            ],
            rows=rows,
            records=self.records,
            document=self.to_dict(),
            title=title,
            caption=title,
            label_head="row",
            notes=notes,
            fold=_FOLD,
            facts={"": facts} if facts else {},
            signatures=signatures,
            comments=[f"captious {__version__}: {title}", *notes, *(f"  {signature}" for signature in signatures)],
            pictures=self.pictures,
            warnings=[*dict.fromkeys(self.warnings)],
        )

    @property
    def records(self) -> list[dict[str, Any]]:
        """One record per figure, for data frames and csv."""
        return [
            {
                "paper": self.paper.name,
                "table": figure.table,
                "column": figure.column,
                "row": figure.row,
                "value": figure.value,
                "ci95_low": figure.interval[0] if figure.interval else None,
                "ci95_high": figure.interval[1] if figure.interval else None,
                "p": figure.p,
                "published": figure.published,
                "difference": figure.difference,
                "verdict": figure.verdict,
            }
            for figure in self.figures
        ]

    def to_dict(self) -> dict[str, Any]:
        """Values of JSON; numbers are fractions where the paper prints hundredths."""
        return json_document(
            {
                "version": __version__,
                "paper": self.paper.name,
                "tables": [table.name for table in self.tables],
                **self.sampling.settings,
                "data": self.data,
                "signatures": self.signatures,
                "seconds": {table: round(taken, 1) for table, taken in self.seconds.items()},
                "figures": self.records,
                **({"warnings": [*dict.fromkeys(self.warnings)]} if self.warnings else {}),
            }
        )


class PaperIndex(Displayed):
    """All tables and figures of all papers: which work, which differ and why, and what the others need.

    Args:
        papers: by default, all that are known.
    """

    def __init__(self, papers: Sequence[Paper] | None = None) -> None:
        self.papers = [paper_names.get(name) for name in paper_names.names()] if papers is None else papers

    def to_table(self) -> Table:
        """One row per table, in a section for every paper."""
        records = [
            {
                "paper": paper.name,
                "table": table.name,
                "place": table.place,
                "state": table.state,
                "status": table.status,
                "shows": table.shows,
            }
            for paper in self.papers
            for table in paper.tables
        ]
        rows = [
            Row(table.name, [Cell(table.place), Cell(table.state)], section=paper.name)
            for paper in self.papers
            for table in paper.tables
        ]
        title = "Tables and figures of papers: captious reproduce PAPER TABLE"
        return Table(
            columns=[Column(head, align="left") for head in ("place", "here")],
            rows=rows,
            records=records,
            document={"version": __version__, "tables": records},
            title=title,
            caption=title,
            fold=_FOLD,
            notes=[
                *(f"{paper.name}: {paper.title}" for paper in self.papers),
                *(
                    f"{paper.name} {table.name}: {table.status}"
                    for paper in self.papers
                    for table in paper.tables
                    if table.state != "works"
                ),
            ],
        )


def _verdict(figure: Reproduced, table: PaperTable, numbers: dict[str, int]) -> str:
    """The verdict; what the whole table needs is below it, and so are long reasons, by their ``numbers``."""
    if figure.reason == f"needs {table.needs}":
        return "needs what is said below"
    if figure.reason == f"run {table.command}":
        return "run the command below"
    if not figure.reason or len(figure.reason) <= _MOST_IN_CELL:
        return figure.verdict
    number = numbers.setdefault(figure.reason, len(numbers) + 1)
    return f"{_CLAUSE_END.split(figure.reason)[0].strip()} [{number}]"


def _form(figure: Reproduced) -> Form:
    return "percent" if figure.percent else "number"
