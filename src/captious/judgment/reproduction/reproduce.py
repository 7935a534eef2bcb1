"""``reproduce``: computation of the tables of a paper and comparison with the published figures; see papers/."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from captious.errors import (
    CaptiousError,
    Message,
    MissingExtraError,
    ParameterError,
    ResourceError,
    UnknownNameError,
    marked,
)
from captious.judgment import judging
from captious.judgment.files import DataFolder, data_folder
from captious.judgment.judging import judge, load_judgments
from captious.judgment.judgments import PEOPLE
from captious.judgment.papers import paper as paper_names
from captious.judgment.papers.paper import File, MadeFile, Paper, PaperColumn, PaperTable, Run
from captious.judgment.reproduction.paper_checks import check_column, check_table, one_line, table_error
from captious.judgment.reproduction.reproduction_result import Reason, Reproduced, Reproduction
from captious.judgment.results import Judgment
from captious.judgment.scores import FILE_NAME, summands
from captious.metrics.contract import registry
from captious.metrics.contract.registry import Request
from captious.metrics.contract.selection import availability
from captious.metrics.contract.settings import Settings
from captious.models.pretrained import is_here
from captious.plugins import did_you_mean
from captious.progress import steps
from captious.statistics import DEFAULT_RESAMPLES, Sampling
from captious.tables import Displayed, Picture
from captious.words import DEFAULT_SEED


def reproduce(
    paper: str | Paper,
    table: str | None = None,
    *,
    data: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Reproduction:
    """Compute the tables of a paper, and compare every figure with the published one.

    A value that cannot be computed is None, with the missing file, model or vectors as the reason.

    Args:
        paper: the paper, or its name, such as "lceval".
        table: name of a table; by default all of them.
        data: the folder of judgment data; by default ``CAPTIOUS_DATA``.
        settings: settings of all metrics, such as word vectors; metrics ignore those that they do not use.
        resamples, seed: number of resamples and random seed of the bootstrap intervals.

    Raises:
        UnknownNameError: an unknown paper or table.
        ParameterError: a table names an unknown benchmark, protocol, metric, study or part.
        ResourceError: no folder of judgment data.
    """
    if isinstance(paper, str):
        paper = paper_names.get(paper)
    tables = paper.tables if table is None else [paper.table(table)]
    for paper_table in tables:
        check_table(paper, paper_table)
    figures: list[Reproduced] = []
    seconds: dict[str, float] = {}
    with (
        TemporaryDirectory(prefix="captious-") as work,
        steps(tables, lambda table: f"{paper.name} {table.name}") as computed,
    ):
        runner = _Runner(paper, data_folder(data), Path(work), settings or Settings(), Sampling(resamples, seed))
        for computed_table in computed:
            start = process_time()
            figures += runner.figures(computed_table)
            seconds[computed_table.name] = process_time() - start
    return Reproduction(
        paper,
        tables,
        figures,
        runner.sampling,
        runner.signatures,
        runner.data,
        runner.pictures,
        runner.warnings,
        seconds,
    )


@dataclass(frozen=True)
class _Records:
    """The records of a run with signatures, or the reasons for their absence: row -> reason for some rows, or one for
    all.
    """

    records: Sequence[Mapping[str, Any]]
    reasons: Mapping[str, Reason] = field(default_factory=dict)
    reason: Reason | None = None
    signatures: Mapping[str, str] = field(default_factory=dict)


class _Runner:
    """Executes runs, each once, and collects their signatures and files; generated files are in the folder ``work``."""

    def __init__(self, paper: Paper, folder: DataFolder, work: Path, settings: Settings, sampling: Sampling) -> None:
        self.paper, self.folder, self.work, self.settings, self.sampling = paper, folder, work, settings, sampling
        self.signatures: dict[str, str] = {}
        self.data: dict[str, str] = {}
        self.pictures: dict[str, Picture] = {}
        self.warnings: list[str] = []
        self._done: dict[tuple[int, tuple[str, ...]], _Records] = {}

    def figures(self, table: PaperTable) -> list[Reproduced]:
        """Return every figure of a table, column by column; without a computation, one line with the reason."""
        if not table.columns:
            reason = Reason("needs", table.needs_text) if table.needs else Reason("command", table.command)
            return [Reproduced(table.name, "", "the table", None, None, None, 1.0, replace(reason, below=True))]
        rows = {row: self._fill_paths(request) for row, request in table.rows.items()}
        requests = [request for request in rows.values() if request]
        figures = []
        for number, column in enumerate(table.columns):
            computed = self._records(column.run, tuple(requests), table) if column.run else _Records([])
            if computed.records:
                check_column(self.paper, table, column, computed.records)
            for row, request in rows.items():
                published = table.published[row][number] if row in table.published else None
                figures.append(self._figure(table, column, row, request, published, computed))
        return figures

    def _figure(
        self,
        table: PaperTable,
        column: PaperColumn,
        row: str,
        request: str,
        published: float | None,
        computed: _Records,
    ) -> Reproduced:
        reason = computed.reasons.get(request) or computed.reasons.get(column.value) or computed.reason
        if not request or column.run is None:
            reason = Reason("needs", table.need_of(row), below=True)
        record = next((r for r in computed.records if str(r.get(column.row)) == request and _matches(r, column)), None)
        if reason is None and record is None and not table.metrics:
            reason = _no_record(request, column, computed.records)
        if published is not None and table.percent:
            published /= 100
        value, interval, p = None, None, None
        if record is not None and reason is None:
            value, p = record.get(column.value), record.get("p") if column.value == "value" else None
            if column.value == "value" and record.get("ci95_low") is not None:
                interval = (record["ci95_low"], record["ci95_high"])
        unit = 10.0**-table.digits / (100 if table.percent else 1)
        row_signature = [computed.signatures[request]] if request in computed.signatures else []
        signatures = row_signature if table.metrics else [*computed.signatures.values()]
        return Reproduced(
            table.name,
            column.label,
            row,
            value,
            interval,
            published,
            unit,
            reason,
            table.percent,
            p,
            table.comparable,
            () if value is None else stand_ins(signatures, table.rows[row]),
        )

    def _records(self, run: Run, requests: tuple[str, ...], table: PaperTable) -> _Records:
        key = (id(run), requests if table.metrics else ())
        if key not in self._done:
            self._done[key] = self._run(run, requests, table)
        return self._done[key]

    def _run(self, run: Run, requests: tuple[str, ...], table: PaperTable) -> _Records:
        if missing := [file.name for file in run.files if not self.folder.has(file.name)]:
            return _Records([], reason=Reason("needs", f"needs {', '.join(missing)} in the folder of data"))
        try:
            run = self._loaded(run)
        except UnknownNameError as error:
            raise table_error(self.paper, table, error) from error
        except CaptiousError as error:  # the data cannot be read
            return _Records([], reason=_reason(error))
        if not table.metrics:
            return self._called(run, ())
        reasons = {request: why for request in requests if request != PEOPLE and (why := self._why_not(request))}
        usable = tuple(request for request in requests if request not in reasons and request != PEOPLE)
        if not usable:
            with_a_metric = Reason("not computed", "people are compared together with metrics: add one to the table")
            return _Records([], reasons | {PEOPLE: with_a_metric})
        computed = self._called(run, usable)
        return replace(computed, reasons={**computed.reasons, **reasons})

    def _loaded(self, run: Run) -> Run:
        """Return a run of ``judge`` with judgments in place of the names of benchmarks."""
        if run.function != "judge":
            return run
        judgments = [load_judgments(name, self.folder.folder) for name in run.arguments["benchmarks"]]
        return replace(run, arguments={**run.arguments, "benchmarks": judgments})

    def _called(self, run: Run, metrics: tuple[str, ...]) -> _Records:
        """Return the records of a run; if it fails because of one of several metrics, those of each metric."""
        try:
            result = self._result(run, metrics)
        except (ParameterError, ResourceError, MissingExtraError) as error:
            if len(metrics) < 2:
                if run.function == "judge" and isinstance(error, ParameterError):
                    error.hint = Message("")  # about options that judge has and reproduce has not
                return _Records([], reason=_reason(error))
            parts = {metric: self._called(run, (metric,)) for metric in metrics}
            records = [record for part in parts.values() for record in part.records]
            signatures = {label: text for part in parts.values() for label, text in part.signatures.items()}
            reasons = {metric: part.reason for metric, part in parts.items() if part.reason}
            return _Records(records, reasons, signatures=signatures)
        table = result.to_table()
        self.pictures |= table.pictures
        self.warnings += table.warnings
        return self._noted(result)

    def _noted(self, result: Any) -> _Records:
        """Return the records of a judgment or study, and record its signatures and files."""
        of_benchmarks = [*result.values()] if isinstance(result, Judgment) else []
        signatures = {label: a.signature for judged in of_benchmarks for label, a in judged.agreements.items()}
        for judged in of_benchmarks or [result]:
            self.data |= judged.data
        signatures = signatures if of_benchmarks else {**result.signatures}
        self.signatures |= signatures
        return _Records([*result.records], signatures=signatures)

    def _fill_paths(self, request: str) -> str:
        """Replace {FILE} in a request by the path of a file in the folder of data, if it exists."""

        def path(name: re.Match[str]) -> str:
            return str(self.folder.path(name[1])) if self.folder.has(name[1]) else name[0]

        return FILE_NAME.sub(path, request)

    def _result(self, run: Run, metrics: tuple[str, ...]) -> Displayed:
        arguments = {name: self._path(value) for name, value in run.arguments.items()}
        if metrics:
            arguments |= {"metrics": list(metrics), "settings": self._settings(metrics)}
        if run.function == "judge":
            arguments |= {"data": self.folder.folder, "resamples": self.sampling.resamples, "seed": self.sampling.seed}
            return judge(**arguments)
        function = getattr(import_module("captious.judgment.studies"), run.function)  # slow to import
        parameters = inspect.signature(function).parameters
        if "data" in parameters:
            arguments["data"] = self.folder.folder
        arguments |= {name: value for name, value in self.sampling.settings.items() if name in parameters}
        if "settings" in parameters:
            arguments.setdefault("settings", self._settings(run.features) if run.features else self.settings)
        return function(**arguments)  # type: ignore[no-any-return]

    def _path(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self._path(item) for key, item in value.items()}
        if isinstance(value, tuple):
            return tuple(map(self._path, value))
        if isinstance(value, MadeFile):
            path = self.work / value.name
            if not path.exists():
                getattr(judging, value.maker)(self.folder.folder, path)
            return path
        return self.folder.path(value.name) if isinstance(value, File) else value

    def _settings(self, metrics: Sequence[str]) -> Settings:
        """Return the settings that these metrics use."""
        parts = [part for metric in metrics for part in summands(metric)]
        declared = {name for part in parts for name in registry.get(Request.from_text(part).metric).declared}
        unused: dict[str, Any] = {name: None for name in self.settings.of_metrics if name not in declared}
        return replace(self.settings, **unused)

    def _why_not(self, request: str) -> Reason | None:
        """Return everything that prevents a metric, or a part of a sum, from running; None if it can run."""
        reasons = [reason for part in summands(request) for reason in self._lacks(part)]
        if not reasons:
            return None
        kinds = [reason.kind for reason in reasons]
        text = "; ".join(dict.fromkeys(reason.text for reason in reasons))
        return Reason("needs" if "needs" in kinds else kinds[0], text)

    def _lacks(self, request: str) -> list[Reason]:
        """Return the missing requirements of one metric."""
        lacking = [Reason("needs", f"needs {name} in the folder of data") for name in FILE_NAME.findall(request)]
        try:
            parsed = Request.from_text(request)
            metric = registry.get(parsed.metric)
            own_model = parsed.parameters.get("model")
            if own_model is not None and not is_here(own_model):
                return [*lacking, Reason("needs", f"needs a model: hf download {own_model}")]
            if metric.default_models and self.settings.model is None and own_model is None:
                here = availability(metric.name)
                if not here.runs:
                    return [*lacking, Reason("needs", f"needs a model: {marked(here.help)}")]
            if not lacking:
                parsed.make(metric, self._settings([request]))
        except CaptiousError as error:
            lacking.append(_reason(error))
        return lacking


#: Part of a metric's signature -> the different choice of the paper.
_PARSER = re.compile(r"\bparser:(bundled[^|+ ]*)")
_VECTORS = re.compile(r"\bvectors:([^|+ ]+)")
_WEIGHTS = re.compile(r"\bvariant:trained\|weights:([^|+ ]+)")


def stand_ins(signatures: Sequence[str], request: str = "") -> tuple[str, ...]:
    """Return substitutes for the resources of a paper, by the signatures of a figure: parser, word vectors, weights.

    Args:
        signatures: signatures of the metrics.
        request: request of the row; word vectors that it names are those of the paper.
    """
    text = " ".join(signatures)
    resources = [f"the grammar {name}" for name in _PARSER.findall(text)]
    resources += [f"the word vectors {name}" for name in _VECTORS.findall(text) if "vectors=" not in request]
    resources += [f"the weights {name} of this package" for name in _WEIGHTS.findall(text)]
    return tuple(dict.fromkeys(resources))


def _matches(record: Mapping[str, Any], column: PaperColumn) -> bool:
    return all(record.get(key) == value for key, value in column.where.items())


def _no_record(request: str, column: PaperColumn, records: Sequence[Mapping[str, Any]]) -> Reason:
    """Return the error for a row without a record, with similar names."""
    labels = [*dict.fromkeys(str(record.get(column.row)) for record in records)]
    guess = did_you_mean(request, labels)
    return Reason("not computed", f"no record has {column.row} {request!r}{f'; {guess}' if guess else ''}".rstrip())


def _reason(error: CaptiousError) -> Reason:
    return Reason("needs" if isinstance(error, ResourceError | MissingExtraError) else "not computed", one_line(error))
