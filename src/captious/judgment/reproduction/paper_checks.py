"""Validation of the names in tables of papers: benchmarks, protocols, metrics, studies and their parameters."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from captious.entry_points import did_you_mean
from captious.errors import CaptiousError, ParameterError
from captious.judgment.benchmarks import benchmark_names
from captious.judgment.files.own_judgments import as_own
from captious.judgment.papers.paper import Paper, PaperColumn, PaperTable, Run
from captious.judgment.protocols import PEOPLE
from captious.judgment.scores.metric_sums import summands
from captious.metrics.contract import catalogue
from captious.metrics.contract.request import Request


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
                    help=f"{did_you_mean(value, choices)}choose one of {', '.join(choices)}",
                )
    except CaptiousError as error:
        raise table_error(paper, table, error) from error


def one_line(error: CaptiousError) -> str:
    """Format an error as one line: the problem, its place, and the remedy."""
    place = error.where.replace("\n", " ")
    return f"{error.message}{f' ({place})' if place else ''}{f'; {error.help}' if error.help else ''}"


def _check_metric(request: str) -> None:
    for part in summands(request):
        parsed = Request.from_text(part)
        metric = catalogue.get(parsed.metric)
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
        raise ParameterError(f"{refusal} {name!r}", help=f"{did_you_mean(name, names)}choose one of {', '.join(names)}")


def table_error(paper: Paper, table: PaperTable, error: CaptiousError) -> ParameterError:
    """Return an error that names a table of a paper."""
    where = f"table {table.name} of the paper {paper.name}"
    return ParameterError(error.message, where=f"{where}: {error.where}" if error.where else where, help=error.help)
