"""``reproduce``: computation of the tables of a paper and comparison with the published figures; see papers/.

``check_table`` validates the names in a table; ``PaperIndex`` is the table of all of them.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from time import process_time
from typing import Any

from captious.errors import (
    CaptiousError,
    InputError,
    Message,
    MissingCandidatesError,
    MissingExtraError,
    ParameterError,
    ResourceError,
    marked,
)
from captious.judgment import judging, studies
from captious.judgment.benchmarks import names as benchmark_names
from captious.judgment.files import DataFolder, data_folder
from captious.judgment.judging import judge, load_judgments
from captious.judgment.judgments import PEOPLE, HumanJudgments
from captious.judgment.papers import paper as papers
from captious.judgment.papers.paper import JUDGE, MADE_FILES, MEAN, Paper, PaperColumn, PaperRow, PaperTable, Run
from captious.judgment.reproduction.reproduction_result import FOLD, Counts, Reproduced, Reproduction, measured
from captious.judgment.results import Judgment, Study
from captious.judgment.scores import FILE_NAME, as_sum, summands
from captious.metrics.contract import registry
from captious.metrics.contract.registry import Request
from captious.metrics.contract.selection import availability
from captious.metrics.contract.settings import Settings, as_settings
from captious.models.pretrained import is_here
from captious.plugins import choices
from captious.progress import steps
from captious.tables import Cell, Column, Displayed, Picture, Row, Table
from captious.version import __version__
from captious.words import DEFAULT_SEED, counted


def reproduce(
    paper: str | Paper,
    table: str | None = None,
    *,
    data: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    seed: int = DEFAULT_SEED,
) -> Reproduction:
    """Compute the tables of a paper, and compare every figure with the published one.

    A value that cannot be computed is None, with the missing file, model or vectors as the reason.

    Args:
        paper: the paper, or its name, such as "lceval".
        table: name of a table; by default all of them.
        data: the folder of judgment data; by default ``CAPTIOUS_DATA``.
        settings: settings of all metrics, such as word vectors; metrics ignore those that they do not use.
        seed: random seed of studies that draw captions.

    Raises:
        UnknownNameError: an unknown paper or table.
        ParameterError: a table names an unknown benchmark, protocol, metric, study or part.
        ResourceError: no folder of judgment data.
    """
    if isinstance(paper, str):
        paper = papers.get(paper)
    tables = paper.tables if table is None else [paper.table(table)]
    for paper_table in tables:
        check_table(paper, paper_table)
    figures: list[Reproduced] = []
    seconds: dict[str, float] = {}
    with (
        TemporaryDirectory(prefix="captious-") as work,
        steps(tables, lambda table: f"{paper.name} {table.name}") as computed,
    ):
        runner = _Runner(paper, data_folder(data), Path(work), as_settings(settings), seed)
        for computed_table in computed:
            start = process_time()
            figures += runner.figures(computed_table)
            seconds[computed_table.name] = process_time() - start
    return Reproduction(
        paper, tables, figures, runner.signatures, runner.data, runner.pictures, runner.warnings, seconds
    )


@dataclass(frozen=True)
class _Records:
    """The records of a run with signatures, or the reasons for their absence: row -> reason for some rows, or one for
    all.
    """

    records: Sequence[Mapping[str, Any]] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    signatures: Mapping[str, str] = field(default_factory=dict)


class _Runner:
    """Executes runs, each once, and collects their signatures and files; generated files are in the folder ``work``."""

    def __init__(self, paper: Paper, folder: DataFolder, work: Path, settings: Settings, seed: int) -> None:
        self.paper, self.folder, self.work, self.settings, self.seed = paper, folder, work, settings, seed
        self.signatures: dict[str, str] = {}
        self.data: dict[str, str] = {}
        self.pictures: dict[str, Picture] = {}
        self.warnings: list[str] = []
        self._done: dict[str, _Records] = {}
        self._judgments: dict[str, HumanJudgments | str] = {}

    def figures(self, table: PaperTable) -> list[Reproduced]:
        """Return every figure of a table, row by row."""
        rows = {row.name: replace(row, metric=self._fill_paths(row.metric)) for row in table.rows}
        requests = [row.metric for row in rows.values() if row.metric]
        computed = {column.name: self._records(table, column, requests) for column in table.columns}
        for column in table.columns:
            if computed[column.name].records:
                check_column(self.paper, table, column, computed[column.name].records)
        figures = []
        for row in rows.values():
            of_row: list[Reproduced] = []
            for column in table.columns:
                of_row.append(self._figure(table, column, row, computed[column.name], of_row))
            figures += of_row
        return figures

    def _figure(
        self, table: PaperTable, column: PaperColumn, row: PaperRow, computed: _Records, before: Sequence[Reproduced]
    ) -> Reproduced:
        """Return one figure; a mean is that of the figures before it in the row."""
        request = row.computed_from
        label = _label(row.metric) if row.metric else row.record
        value, reason = None, computed.reasons.get(request) or computed.reasons.get(column.value) or computed.reason
        signatures = [computed.signatures[label]] if label in computed.signatures else []
        declared = row.other or table.other if column.other is None else column.other
        other = [declared, *stand_ins(signatures or computed.signatures.values(), row.metric)]
        if not request or not (column.judge or column.run or column.value == MEAN):
            reason = row.needs or table.needs
        elif column.value == MEAN:
            values = [figure.value for figure in before if figure.value is not None]
            value = sum(values) / len(values) if len(values) == len(before) else None
            reason = "" if value is not None else next((figure.reason for figure in before if figure.reason), "")
            other += [text for figure in before for text in figure.other]
        elif not reason:
            records = [record for record in computed.records if str(record.get(column.row)) == label]
            record = next((record for record in records if _matches(record, _conditions(column))), {})
            value = record.get(column.value)
            reason = "" if value is not None else "undefined here" if record else f"no {column.row} is {request!r}"
        others = () if value is None else dict.fromkeys(filter(None, other))
        return Reproduced.of(table, row, column, value, reason, others)

    def _records(self, table: PaperTable, column: PaperColumn, requests: Sequence[str]) -> _Records:
        """Return the records that a column is among; runs with the same metrics are executed once."""
        if column.judge:
            judged = self._judged(table, column)
            if isinstance(judged, str):
                return _Records(reason=judged)
            run = Run(JUDGE, {"benchmarks": judged})
            key = f"{[judgments.protocol for judgments in judged]} {requests}"
        elif column.run:
            run = self.paper.runs[column.run]
            key = f"{column.run} {requests if table.has_metrics else ()}"
        else:
            return _Records()
        if key not in self._done:
            self._done[key] = self._run(run, requests if table.has_metrics else ())
        return self._done[key]

    def _judged(self, table: PaperTable, column: PaperColumn) -> list[HumanJudgments] | str:
        """Return the judgments of all columns that can be judged together with this one, or why there are none."""
        found = self._load(column)
        if isinstance(found, str):
            return found
        together = {other.judge: self._load(other) for other in table.columns if other.judge}
        return [
            judgments
            for judgments in together.values()
            if isinstance(judgments, HumanJudgments)
            and judgments.protocol.benchmark == found.protocol.benchmark
            and judgments.protocol.ratings == found.protocol.ratings
        ]

    def _load(self, column: PaperColumn) -> HumanJudgments | str:
        """Return the judgments of a column, or why there are none."""
        if column.judge not in self._judgments:
            try:
                self._judgments[column.judge] = load_judgments(column.judge, self.folder.folder)
            except CaptiousError as error:  # the files are missing, or cannot be read
                self._judgments[column.judge] = one_line(error)
        return self._judgments[column.judge]

    def _run(self, run: Run, requests: Sequence[str]) -> _Records:
        if missing := [name for name in run.files if not self.folder.has(name)]:
            return _Records(reason=f"needs {', '.join(missing)} in the folder of data")
        if not requests:
            return self._called(run, ())
        reasons = {request: why for request in requests if request != PEOPLE and (why := self._lacks(request))}
        usable = [request for request in dict.fromkeys(requests) if request not in reasons and request != PEOPLE]
        if not usable:
            return _Records(reasons=reasons | {PEOPLE: "people are compared together with metrics"})
        computed = self._called(run, usable)
        return replace(computed, reasons={**computed.reasons, **reasons})

    def _called(self, run: Run, metrics: Sequence[str]) -> _Records:
        """Return the records of a run; if it fails because of one of several metrics, those of each metric."""
        try:
            result = self._result(run, metrics)
        except (InputError, ParameterError, ResourceError, MissingExtraError) as error:
            if len(metrics) < 2 or isinstance(error, InputError):
                if isinstance(error, MissingCandidatesError) or (
                    run.function == JUDGE and isinstance(error, ParameterError)
                ):
                    error.hint = Message("")  # about options that reproduce has not
                return _Records(reason=one_line(error))
            parts = {metric: self._called(run, (metric,)) for metric in metrics}
            records = [record for part in parts.values() for record in part.records]
            of_parts = {label: text for part in parts.values() for label, text in part.signatures.items()}
            return _Records(records, {metric: part.reason for metric, part in parts.items()}, "", of_parts)
        table = result.to_table()
        self.pictures |= table.pictures
        self.warnings += table.warnings
        if isinstance(result, Judgment):
            signatures = {}
            for name, judged in result.items():
                self.data |= judged.data
                for label, agreement in judged.agreements.items():
                    signatures[label] = agreement.signature
                    if self.signatures.setdefault(label, agreement.signature) != agreement.signature:
                        self.signatures[f"{label} on {name}"] = agreement.signature
        else:
            signatures = {**result.signatures}
            self.data |= result.data
            self.signatures |= signatures
        return _Records([*result.records], signatures=signatures)

    def _result(self, run: Run, metrics: Sequence[str]) -> Judgment | Study:
        arguments = {name: self._filled(value) for name, value in run.arguments.items()}
        if metrics:
            arguments |= {"metrics": list(metrics), "settings": self._settings(metrics)}
        if run.function == JUDGE:
            return judge(**arguments, data=self.folder.folder, resamples=1, seed=self.seed)
        function = getattr(studies, run.function)
        parameters = inspect.signature(function).parameters
        if run.recipe:
            arguments["recipe"] = run.recipe
        given: dict[str, Any] = {"data": self.folder.folder, "resamples": 1, "seed": self.seed}
        given["settings"] = self._settings(run.features) if run.features else self.settings
        given = {name: value for name, value in given.items() if name in parameters and name not in arguments}
        return function(**arguments, **given)  # type: ignore[no-any-return]

    def _filled(self, value: Any) -> Any:
        """Replace {FILE} by the path of a file in the folder of data, or of a generated one, in arguments."""
        if isinstance(value, Mapping):
            return {key: self._filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [*map(self._filled, value)]
        name = FILE_NAME.fullmatch(value) if isinstance(value, str) else None
        if name is None:
            return value
        if name[1] not in MADE_FILES:
            return self.folder.path(name[1])
        path = self.work / f"{name[1]}.jsonl"
        if not path.exists():
            getattr(judging, name[1])(self.folder.folder, path)
        return path

    def _fill_paths(self, request: str) -> str:
        """Replace {FILE} in a request by the path of a file in the folder of data, if it exists."""

        def path(name: re.Match[str]) -> str:
            return str(self.folder.path(name[1])) if self.folder.has(name[1]) else name[0]

        return FILE_NAME.sub(path, request)

    def _settings(self, metrics: Sequence[str]) -> Settings:
        """Return the settings that these metrics use."""
        parts = [part for metric in metrics for part in summands(metric)]
        declared = {name for part in parts for name in registry.get(Request.from_text(part).metric).declared}
        unused: dict[str, Any] = {name: None for name in self.settings.of_metrics if name not in declared}
        return replace(self.settings, **unused)

    def _lacks(self, request: str) -> str:
        """Return everything that prevents a metric, or a part of a sum, from running; empty if it can run."""
        return "; ".join(dict.fromkeys(lack for part in summands(request) for lack in self._lacks_of_part(part)))

    def _lacks_of_part(self, request: str) -> list[str]:
        lacking = [f"needs {name} in the folder of data" for name in FILE_NAME.findall(request)]
        try:
            parsed = Request.from_text(request)
            metric = registry.get(parsed.metric)
            own_model = parsed.parameters.get("model")
            if own_model is not None and not is_here(own_model):
                return [*lacking, f"needs a model: hf download {own_model}"]
            if metric.default_models and self.settings.model is None and own_model is None:
                here = availability(metric.name)
                if not here.runs:
                    return [*lacking, f"needs a model: {marked(here.help)}"]
            if not lacking:
                parsed.make(metric, self._settings([request]))
        except CaptiousError as error:
            lacking.append(one_line(error))
        return lacking


#: Part of a metric's signature -> the different choice of the paper.
_PARSER = re.compile(r"\bparser:(bundled[^|+ ]*)")
_VECTORS = re.compile(r"\bvectors:([^|+ ]+)")
_WEIGHTS = re.compile(r"\bvariant:trained\|weights:([^|+ ]+)")


def stand_ins(signatures: Iterable[str], request: str = "") -> list[str]:
    """Return substitutes for the resources of a paper, by the signatures of a figure: parser, word vectors, weights.

    Args:
        signatures: signatures of the metrics.
        request: request of the row; word vectors that it names are those of the paper.
    """
    text = " ".join(signatures)
    resources = [f"the grammar {name}" for name in _PARSER.findall(text)]
    resources += [f"the word vectors {name}" for name in _VECTORS.findall(text) if "vectors=" not in request]
    return resources + [f"the weights {name} of this package" for name in _WEIGHTS.findall(text)]


def _label(metric: str) -> str:
    """Return the label of a metric in records, without parameters that have their default values."""
    if metric == PEOPLE or as_sum(metric) is not None or FILE_NAME.search(metric):
        return metric
    return Request.from_text(metric).label


def _conditions(column: PaperColumn) -> Mapping[str, object]:
    """Return the values of the records that a column shows."""
    if not column.judge:
        return column.where
    return {"benchmark": benchmark_names.protocol(column.judge).full_name, "part": column.part}


def _matches(record: Mapping[str, Any], conditions: Mapping[str, object]) -> bool:
    """Return whether a record has these values; an empty text stands for none."""
    return all(or_empty(record.get(key)) == value for key, value in conditions.items())


# Validation of the names in tables of papers: benchmarks, protocols, metrics, studies and their parameters.


def check_table(paper: Paper, table: PaperTable) -> None:
    """Refuse a table with unknown names.

    Raises:
        ParameterError: names the paper and the table, and similar names.
    """
    with _errors_in(paper, table):
        for row in table.rows:
            if row.metric not in ("", PEOPLE):
                _check_metric(row.metric)
        for column in table.columns:
            if column.judge:
                benchmark_names.protocol(column.judge)
            elif column.run:
                _check_run(paper, column)


def check_column(paper: Paper, table: PaperTable, column: PaperColumn, records: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a column with keys or values that no record has.

    Raises:
        ParameterError: as ``check_table``.
    """
    conditions = _conditions(column)
    with _errors_in(paper, table):
        keys = {key for record in records for key in record} | {row.metric for row in table.rows}  # some may not run
        for key in (*conditions, column.value, column.row):
            _check_name(key, keys, "no record has the key")
        for key, value in conditions.items():
            values = {or_empty(record.get(key)) for record in records}
            if value not in values:
                hint = choices(value, sorted(map(str, values)), "choose one of")
                raise ParameterError(f"no record has {key} {value!r}", hint=hint)


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
    _check_name(run.function, dir(studies), "there is no study")
    parameters = inspect.signature(getattr(studies, run.function)).parameters
    for name in run.arguments:
        _check_name(name, parameters, f"{run.function} has no parameter")


def _check_name(name: object, names: Iterable[str], refusal: str) -> None:
    names = [*names]
    if name not in names:
        raise ParameterError(f"{refusal} {name!r}", hint=choices(name, names, "choose one of"))


@contextmanager
def _errors_in(paper: Paper, table: PaperTable) -> Iterator[None]:
    """Turn errors into those that name a table of a paper."""
    try:
        yield
    except CaptiousError as error:
        where = ": ".join(filter(None, [f"table {table.name} of the paper {paper.name}", marked(error.where)]))
        raise ParameterError(error.message, where=where, hint=error.hint) from error


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
