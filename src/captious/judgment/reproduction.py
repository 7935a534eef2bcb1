"""``reproduce``: the tables of a paper, ours beside the published figures. papers/ has what they are made of."""

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

from captious.displayed import Displayed
from captious.errors import CaptiousError, MissingExtraError, ParameterError, ResourceError
from captious.evaluation.resampling import Sampling
from captious.judgment.agreement import judge, load_judgments
from captious.judgment.judgment_files import DataFolder, data_folder
from captious.judgment.judgment_result import Judgment
from captious.judgment.metric_sums import summands
from captious.judgment.papers import paper_names
from captious.judgment.papers.paper import File, MadeFile, Paper, PaperColumn, PaperTable, Run
from captious.judgment.protocols import PEOPLE
from captious.judgment.reproduction_result import Reproduced, Reproduction
from captious.learned.network_recipes import Recipe
from captious.metrics.contract import catalogue
from captious.metrics.contract.availability import availability
from captious.metrics.contract.request import Request
from captious.metrics.contract.settings import Settings
from captious.models.pretrained import is_here
from captious.pictures import Picture
from captious.progress import steps
from captious.random_seed import DEFAULT_SEED

#: A file in the folder of data, within a request for a metric.
_FILE_NAME = re.compile(r"\{([^{}]+)\}")


def reproduce(
    paper: str | Paper,
    table: str | None = None,
    *,
    data: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    resamples: int = 1000,
    seed: int = DEFAULT_SEED,
) -> Reproduction:
    """Compute the tables of a paper, and compare every figure with the published one.

    A value that cannot be computed here is None, and says which file, model or vectors it needs.

    Args:
        paper: its name, such as "lceval", or the paper.
        table: name of a table; by default all of them.
        data: the folder of judgment data; by default the one that ``CAPTIOUS_DATA`` names.
        settings: what applies to all metrics, such as word vectors; metrics that do not use a setting ignore it.
        resamples, seed: of the bootstrap intervals.

    Raises:
        UnknownNameError: no such paper or table.
        ResourceError: no folder of judgment data.
    """
    if isinstance(paper, str):
        paper = paper_names.get(paper)
    tables = paper.tables if table is None else [paper.table(table)]
    figures: list[Reproduced] = []
    seconds: dict[str, float] = {}
    with (
        TemporaryDirectory(prefix="captious-") as work,
        steps(tables, lambda table: f"{paper.name} {table.name}") as computed,
    ):
        runner = _Runner(data_folder(data), Path(work), settings or Settings(), Sampling(resamples, seed))
        for each in computed:
            start = process_time()
            figures += runner.figures(each)
            seconds[each.name] = process_time() - start
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
    """What a run gave, and why it gave nothing: for some rows, row -> reason; or for all."""

    records: Sequence[Mapping[str, Any]]
    reasons: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""


class _Runner:
    """Runs, each once, and what they tell about themselves; files are made in the folder ``work``."""

    def __init__(self, folder: DataFolder, work: Path, settings: Settings, sampling: Sampling) -> None:
        self.folder, self.work, self.settings, self.sampling = folder, work, settings, sampling
        self.signatures: dict[str, str] = {}
        self.data: dict[str, str] = {}
        self.pictures: dict[str, Picture] = {}
        self.warnings: list[str] = []
        self._done: dict[tuple[int, tuple[str, ...]], _Records] = {}

    def figures(self, table: PaperTable) -> list[Reproduced]:
        """Every figure of a table, column by column; of one that this does not compute, a line that says why."""
        if not table.columns:
            reason = f"needs {table.needs}" if table.needs else f"run {table.command}"
            return [Reproduced(table.name, "", "the table", None, None, None, 1.0, reason)]
        rows = {row: self._with_paths(request) for row, request in table.rows.items()}
        requests = [request for request in rows.values() if request]
        figures = []
        for number, column in enumerate(table.columns):
            given = self._records(column.run, tuple(requests), table) if column.run else _Records([])
            for row, request in rows.items():
                published = table.published[row][number] if row in table.published else None
                figures.append(self._figure(table, column, row, request, published, given))
        return figures

    def _figure(
        self, table: PaperTable, column: PaperColumn, row: str, request: str, published: float | None, given: _Records
    ) -> Reproduced:
        reason = given.reasons.get(request) or given.reason
        if not request or column.run is None:
            reason = f"needs {table.needs}" if table.needs else "nothing here computes it"
        record = next((r for r in given.records if str(r.get(column.row)) == request and _matches(r, column)), None)
        if published is not None and table.percent:
            published /= 100
        value, interval, p = None, None, None
        if record is not None and not reason:
            value, p = record.get(column.value), record.get("p") if column.value == "value" else None
            if column.value == "value" and record.get("ci95_low") is not None:
                interval = (record["ci95_low"], record["ci95_high"])
        unit = 10.0**-table.digits / (100 if table.percent else 1)
        return Reproduced(table.name, column.label, row, value, interval, published, unit, reason, table.percent, p)

    def _records(self, run: Run, requests: tuple[str, ...], table: PaperTable) -> _Records:
        key = (id(run), requests if table.metrics else ())
        if key not in self._done:
            self._done[key] = self._run(run, requests, table)
        return self._done[key]

    def _run(self, run: Run, requests: tuple[str, ...], table: PaperTable) -> _Records:
        if missing := [file.name for file in run.files if not self.folder.has(file.name)]:
            return _Records([], reason=f"needs {', '.join(missing)} in the folder of data")
        try:
            run = self._loaded(run)
        except CaptiousError as error:  # of the data
            return _Records([], reason=_reason(error))
        if not table.metrics:
            return self._called(run, ())
        reasons = {request: why for request in requests if request != PEOPLE and (why := self._why_not(request))}
        usable = tuple(request for request in requests if request not in reasons and request != PEOPLE)
        if not usable:
            return _Records([], reasons | {PEOPLE: "needs a metric beside it"})
        given = self._called(run, usable)
        return replace(given, reasons={**given.reasons, **reasons})

    def _loaded(self, run: Run) -> Run:
        """A run of ``judge`` with judgments in place of the names of benchmarks."""
        if run.function != "judge":
            return run
        judgments = [load_judgments(name, self.folder.folder) for name in run.arguments["benchmarks"]]
        return replace(run, arguments={**run.arguments, "benchmarks": judgments})

    def _called(self, run: Run, metrics: tuple[str, ...]) -> _Records:
        """The records of a run; if it fails because of one of several metrics, those of each metric."""
        try:
            result = self._result(run, metrics)
        except (ParameterError, ResourceError, MissingExtraError) as error:
            if len(metrics) < 2:
                return _Records([], reason=_reason(error))
            parts = {metric: self._called(run, (metric,)) for metric in metrics}
            records = [record for part in parts.values() for record in part.records]
            return _Records(records, {metric: part.reason for metric, part in parts.items() if part.reason})
        shown = result.to_table()
        self.pictures |= shown.pictures
        self.warnings += shown.warnings
        return _Records(self._noted(result))

    def _noted(self, result: Any) -> Sequence[Mapping[str, Any]]:
        """The records of a judgment or study, whose signatures and files are noted."""
        if isinstance(result, Judgment):
            for of_benchmark in result.values():
                self.data |= of_benchmark.data
                self.signatures |= {label: a.signature for label, a in of_benchmark.agreements.items()}
        else:
            self.data |= result.data
            self.signatures |= result.signatures
        return list(result.records)

    def _with_paths(self, request: str) -> str:
        """A request in which {FILE} is the path of a file in the folder of data, if it is there."""

        def path(name: re.Match[str]) -> str:
            return str(self.folder.path(name[1])) if self.folder.has(name[1]) else name[0]

        return _FILE_NAME.sub(path, request)

    def _result(self, run: Run, metrics: tuple[str, ...]) -> Displayed:
        arguments = {name: self._path(value) for name, value in run.arguments.items()}
        if metrics:
            arguments |= {"metrics": list(metrics), "settings": self._settings(metrics)}
        if run.function == "judge":
            arguments |= {"data": self.folder.folder, "resamples": self.sampling.resamples, "seed": self.sampling.seed}
            return judge(**arguments)
        function = getattr(import_module("captious.judgment.studies"), run.function)  # slow to import
        taken = inspect.signature(function).parameters
        if "data" in taken:
            arguments["data"] = self.folder.folder
        if "settings" in taken:
            recipe = arguments.get("recipe")
            own = [feature.metric for feature in recipe.features.features] if isinstance(recipe, Recipe) else []
            arguments.setdefault("settings", self._settings(own) if own else self.settings)
        return function(**arguments)  # type: ignore[no-any-return]

    def _path(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self._path(each) for key, each in value.items()}
        if isinstance(value, tuple):
            return tuple(map(self._path, value))
        if isinstance(value, MadeFile):
            path = self.work / value.name
            if not path.exists():
                getattr(import_module("captious.judgment.made_files"), value.maker)(self.folder.folder, path)
            return path
        return self.folder.path(value.name) if isinstance(value, File) else value

    def _settings(self, metrics: Sequence[str]) -> Settings:
        """The settings that these metrics use."""
        parts = [part for metric in metrics for part in summands(metric)]
        declared = {name for part in parts for name in catalogue.get(Request.from_text(part).metric).declared}
        unused: dict[str, Any] = {name: None for name in self.settings.of_metrics if name not in declared}
        return replace(self.settings, **unused)

    def _why_not(self, request: str) -> str:
        """The reason why a metric, or a part of a sum, cannot run here; empty if it can."""
        if (parts := summands(request)) != [request]:
            return next((why for part in parts if (why := self._why_not(part))), "")
        if missing := _FILE_NAME.search(request):
            return f"needs {missing[1]} in the folder of data"
        try:
            parsed = Request.from_text(request)
            metric = catalogue.get(parsed.metric)
            own_model = parsed.parameters.get("model")
            if own_model is not None and not is_here(own_model):
                return f"needs a model: hf download {own_model}"
            if metric.default_models and self.settings.model is None and own_model is None:
                here = availability(metric.name)
                if not here.runs:
                    return f"needs a model: {here.help}"
            parsed.make(metric, self._settings([request]))
        except CaptiousError as error:
            return _reason(error)
        return ""


def _matches(record: Mapping[str, Any], column: PaperColumn) -> bool:
    return all(record.get(key) == value for key, value in column.where.items())


def _reason(error: CaptiousError) -> str:
    """An error in one line."""
    place = error.where.replace("\n", " ")
    return f"{error.message}{f' ({place})' if place else ''}{f'; {error.help}' if error.help else ''}"
