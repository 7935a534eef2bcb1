"""Validation of the tables of papers, and ``PaperIndex``, the table of all of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from textwrap import shorten
from typing import Any

from captious.errors import CaptiousError, ParameterError, marked
from captious.judgment.benchmarks import names as benchmark_names
from captious.judgment.judgments import PEOPLE
from captious.judgment.papers import paper as papers
from captious.judgment.papers.paper import Paper, PaperColumn, PaperTable
from captious.judgment.reproduction.reproduction_result import FOLD, Counts, Reproduced, measured
from captious.judgment.scores import summands
from captious.metrics.contract import registry
from captious.metrics.contract.registry import Request
from captious.plugins import did_you_mean
from captious.tables import Cell, Column, Displayed, Row, Table
from captious.version import __version__
from captious.words import counted

# Validation of the names in tables of papers: benchmarks, protocols, metrics, studies and their parameters.


def check_table(paper: Paper, table: PaperTable) -> None:
    """Refuse a table with unknown names.

    Raises:
        ParameterError: names the paper and the table, and similar names.
    """
    try:
        for row in table.rows:
            if row.metric not in ("", PEOPLE):
                _check_metric(row.metric)
        for column in table.columns:
            if column.judge:
                benchmark_names.protocol(column.judge)
            elif column.run:
                _check_run(paper, column)
    except CaptiousError as error:
        raise table_error(paper, table, error) from error


def check_column(paper: Paper, table: PaperTable, column: PaperColumn, records: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a column with keys or values that no record has.

    Raises:
        ParameterError: as ``check_table``.
    """
    conditions = {"part": column.part} if column.judge else column.where
    try:
        keys = {key for record in records for key in record} | {row.metric for row in table.rows}  # some may not run
        for key in (*conditions, column.value, column.row):
            _check_name(key, keys, "no record has the key")
        for key, value in conditions.items():
            values = {or_empty(record.get(key)) for record in records}
            if value not in values:
                choices = sorted(map(str, values))
                raise ParameterError(
                    f"no record has {key} {value!r}",
                    hint=f"{did_you_mean(value, choices)}choose one of {', '.join(choices)}",
                )
    except CaptiousError as error:
        raise table_error(paper, table, error) from error


def or_empty(value: object) -> object:
    """Return a value of a record, with an empty text for None, which files of papers cannot express."""
    return "" if value is None else value


def one_line(error: CaptiousError) -> str:
    """Format an error as one line: the problem, its place, and the remedy."""
    message, where, hint = marked(error.message), marked(error.where).replace("\n", " "), marked(error.hint)
    return f"{message}{f' ({where})' if where else ''}{f'; {hint}' if hint else ''}"


def _check_metric(request: str) -> None:
    for part in summands(request):
        parsed = Request.from_text(part)
        metric = registry.get(parsed.metric)
        assert isinstance(parsed.suffix, str)  # reads the parameters
        if parsed.variant is not None:
            variants = {name.lower(): name for name in metric.variants}
            _check_name(parsed.variant, variants, f"{metric.name} has no variant")


def _check_run(paper: Paper, column: PaperColumn) -> None:
    run = paper.runs[column.run]
    studies = import_module("captious.judgment.studies")  # slow to import
    _check_name(run.function, studies.__all__, "there is no study")
    parameters = inspect.signature(getattr(studies, run.function)).parameters
    for name in run.arguments:
        _check_name(name, parameters, f"{run.function} has no parameter")


def _check_name(name: str, names: Iterable[str], refusal: str) -> None:
    names = [*names]
    if name not in names:
        raise ParameterError(f"{refusal} {name!r}", hint=f"{did_you_mean(name, names)}choose one of {', '.join(names)}")


def table_error(paper: Paper, table: PaperTable, error: CaptiousError) -> ParameterError:
    """Return an error that names a table of a paper."""
    where = f"table {table.name} of the paper {paper.name}"
    return ParameterError(
        error.message, where=f"{where}: {marked(error.where)}" if error.where else where, hint=error.hint
    )


# ``PaperIndex``: all tables of papers that ``reproduce`` knows, as one table.

_MOST_IN_CELL = 50  # characters


class PaperIndex(Displayed):
    """All tables and figures of all papers, with the counts of their figures as they were last computed.

    A paper of another package that cannot be loaded, or has unknown names, has the state "broken".

    Args:
        papers: by default, all known papers.
    """

    def __init__(self, shown: Sequence[Paper] | None = None) -> None:
        self.papers: list[Paper] = []
        self.broken: dict[str, str] = {}
        for name in papers.names() if shown is None else ():
            try:
                paper = papers.get(name)
                for table in paper.tables:
                    check_table(paper, table)
                self.papers.append(paper)
            except CaptiousError as error:
                self.broken[name] = one_line(error)
        self.papers += shown or ()

    def to_table(self) -> Table:
        """Return a table with one row per table, in a section for every paper."""
        records: list[dict[str, object]] = []
        notes = []
        for paper in self.papers:
            figures = measured(paper)
            notes.append(f"{paper.name}: {paper.title}. {_state(paper.tables, figures)}.")
            for table in paper.tables:
                of_table = None if figures is None else [f for f in figures if f.table == table.name]
                head = {"paper": paper.name, "table": table.name, "place": table.place}
                records.append({**head, "state": _state([table], of_table), "needs": table.needs_text})
        for name, reason in self.broken.items():
            records.append({"paper": name, "table": "", "place": "", "state": "broken", "needs": reason})
        rows = [
            Row(
                str(record["table"] or "(all)"),
                [
                    Cell(record["place"]),
                    Cell(record["state"]),
                    Cell(shorten(str(record["needs"]), _MOST_IN_CELL, placeholder=" ...")),
                ],
                section=str(record["paper"]),
            )
            for record in records
        ]
        title = "Tables and figures of papers: captious reproduce PAPER TABLE"
        return Table(
            columns=[Column(head, align="left") for head in ("place", "state", "needs")],
            rows=rows,
            records=records,
            document={"version": __version__, "tables": records},
            title=title,
            caption=title,
            fold=FOLD,
            notes=[
                *notes,
                *(f"{name}: {reason}" for name, reason in self.broken.items()),
                "The counts are those of the last measurement, which docs/papers.md describes.",
            ],
        )


def _state(tables: Sequence[PaperTable], figures: Sequence[Reproduced] | None) -> str:
    """Return the counts of figures, or how many are printed of those that were never computed here."""
    if figures is None:
        return f"{counted(sum(len(table.figures) for table in tables), 'figure')} printed, not yet computed"
    return Counts.of(figures).text
