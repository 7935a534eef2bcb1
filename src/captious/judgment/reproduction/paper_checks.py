"""Validation of the tables of papers, and ``PaperIndex``, the table of all of them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from textwrap import shorten
from typing import Any

from captious.errors import CaptiousError, ParameterError, marked
from captious.judgment.benchmarks import names as benchmark_names
from captious.judgment.files import as_own
from captious.judgment.judgments import PEOPLE
from captious.judgment.papers import paper as paper_names
from captious.judgment.papers.paper import Paper, PaperColumn, PaperTable, Run
from captious.judgment.reproduction.reproduction_result import FOLD
from captious.judgment.scores import summands
from captious.metrics.contract import registry
from captious.metrics.contract.registry import Request
from captious.plugins import did_you_mean
from captious.tables import Cell, Column, Displayed, Row, Table
from captious.version import __version__

# Validation of the names in tables of papers: benchmarks, protocols, metrics, studies and their parameters.


def check_table(paper: Paper, table: PaperTable) -> None:
    """Refuse a table with unknown names.

    Raises:
        ParameterError: names the paper and the table, and similar names.
    """
    try:
        if table.metrics:
            for request in table.rows.values():
                if request not in ("", PEOPLE):
                    _check_metric(request)
        for column in table.columns:
            if column.run is not None:
                _check_run(column.run)
                if column.run.function == "judge":
                    _check_judged(column, column.run)
    except CaptiousError as error:
        raise table_error(paper, table, error) from error


def check_column(paper: Paper, table: PaperTable, column: PaperColumn, records: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a column with keys or values that no record has, if there are records.

    Raises:
        ParameterError: as ``check_table``.
    """
    try:
        keys = {key for record in records for key in record} | {*table.rows.values()}  # some may not run here
        for key in (*column.where, column.value, column.row):
            _check_name(key, keys, "no record has the key")
        for key, value in column.where.items():
            values = {record.get(key) for record in records}
            if value not in values:
                choices = sorted(map(str, values))
                raise ParameterError(
                    f"no record has {key} {value!r}",
                    hint=f"{did_you_mean(value, choices)}choose one of {', '.join(choices)}",
                )
    except CaptiousError as error:
        raise table_error(paper, table, error) from error


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


def _check_run(run: Run) -> None:
    if run.function == "judge":
        for benchmark in run.arguments.get("benchmarks", ()):
            if as_own(os.fspath(benchmark)) is None:
                benchmark_names.protocol(str(benchmark))
        return
    studies = import_module("captious.judgment.studies")  # slow to import
    _check_name(run.function, studies.__all__, "there is no study")
    parameters = inspect.signature(getattr(studies, run.function)).parameters
    for name in run.arguments:
        _check_name(name, parameters, f"{run.function} has no parameter")


def _check_judged(column: PaperColumn, run: Run) -> None:
    """Check that a column of ``judge`` belongs to a protocol that is judged."""
    benchmarks = [*map(str, run.arguments.get("benchmarks", ()))]
    if "benchmark" in column.where and not any(as_own(benchmark) for benchmark in benchmarks):
        judged = [benchmark_names.protocol(benchmark).full_name for benchmark in benchmarks]
        benchmark_names.protocol(str(column.where["benchmark"]))
        _check_name(str(column.where["benchmark"]), judged, f"the column {column.label!r} is of a protocol not judged:")


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

#: Meanings of the states of tables.
STATES = {
    "reproduced": "published figures are the same here, or within our interval",
    "differs": "some published figures differ, and it is known why",
    "not comparable": "figures are published, but ours are of other data or training",
    "computed": "captious computes it, but no figure is published or at hand",
    "command": "another command computes it",
    "needs": "nothing can be computed without what captious does not bring",
}


class PaperIndex(Displayed):
    """All tables and figures of all papers, with their state and the reason.

    A paper of another package that cannot be loaded, or has unknown names, has the state "broken".

    Args:
        papers: by default, all known papers.
    """

    def __init__(self, papers: Sequence[Paper] | None = None) -> None:
        self.papers: list[Paper] = []
        self.broken: dict[str, str] = {}
        for name in paper_names.names() if papers is None else ():
            try:
                paper = paper_names.get(name)
                for table in paper.tables:
                    check_table(paper, table)
                self.papers.append(paper)
            except CaptiousError as error:
                self.broken[name] = one_line(error)
        self.papers += papers or ()

    def to_table(self) -> Table:
        """Return a table with one row per table, in a section for every paper."""
        keys = ("paper", "table", "place", "state", "needs", "differs", "shows", "status")
        records: list[dict[str, object]] = [
            {
                "paper": paper.name,
                "table": table.name,
                "place": table.place,
                "state": table.state,
                "needs": table.needs_text,
                "differs": table.differs,
                "shows": table.shows,
                "status": table.status,
            }
            for paper in self.papers
            for table in paper.tables
        ]
        records += [
            {**dict.fromkeys(keys, ""), "paper": name, "state": "broken", "status": reason}
            for name, reason in self.broken.items()
        ]
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
                *(f"{paper.name}: {paper.title}" for paper in self.papers),
                *(
                    f"{record['paper']} {record['table']}: {record['status']}".replace(" :", ":")
                    for record in records
                    if record["needs"] or record["differs"] or record["state"] == "broken"
                ),
                *(f"{state}: {meaning}." for state, meaning in STATES.items()),
            ],
        )
