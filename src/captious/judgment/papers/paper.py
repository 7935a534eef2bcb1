"""``Paper``: tables and figures with their computations, and the published figures; and all papers by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, TypeAlias

from captious.errors import ParameterError, UnknownNameError
from captious.judgment.judgments import PEOPLE
from captious.judgment.scores import needs_of_metric
from captious.learned.networks import Recipe, as_recipe
from captious.plugins import EntryPoints, did_you_mean

# ``Paper``, with its tables and the files that they need.

#: States of a table: the published figures are reproduced, differ for a known reason, or cannot be compared with
#: ours; figures are computed, but none is published; another command computes it; nothing can be computed without what
#: the package does not bring.
State: TypeAlias = Literal["reproduced", "differs", "not comparable", "computed", "command", "needs"]

#: Data that tables over systems of the COCO challenge of 2015 need if the leaderboard's scores are not enough.
CHALLENGE_CAPTIONS = (
    "the captions of val2014 by twelve systems of the COCO challenge of 2015: Google, Montreal/Toronto, Berkeley "
    "LRCN, m-RNN, PicSOM, Brno University, m-RNN (Baidu/ UCLA), MIL, MLBL, NeuralTalk, ACVT and Tsinghua Bigeye. "
    "Issue 121 of Tiiiger/bert_score links a copy; captious study systems FILE... REFERENCES --human coco-2015 then "
    "takes minutes"
)

#: The files of ABSTRACT-50S, and of the distractors of Hodosh and Hockenmaier 2016.
ABSTRACT_FILE = "abstract50s/consensus_abstract.mat in the folder of data (vrama91.github.io/cider)"
DISTRACTORS = (
    "distractors/pairs.jsonl in the folder of data, the distractors of Hodosh and Hockenmaier 2016 in the form that "
    "docs/judgment.md describes"
)


@dataclass(frozen=True)
class File:
    """A file in the folder of judgment data; ``*`` in the name matches anything, including several files."""

    name: str


@dataclass(frozen=True)
class MadeFile:
    """A file generated from others in the folder of judgment data.

    Args:
        name: its name.
        maker: name of the function of ``captious.judgment.judging`` that generates it.
        sources: the files that it needs.
    """

    name: str
    maker: str
    sources: tuple[File, ...]


@dataclass(frozen=True)
class Run:
    """A call that returns records: of ``judge``, or of a study.

    Args:
        function: "judge", or the name of a function of ``captious.judgment.studies``.
        arguments: its arguments, except metrics, data, settings, resamples and seed. A ``File`` or ``MadeFile`` stands
            for its path, also within a tuple and as a value of a mapping.
    """

    function: str
    arguments: Mapping[str, Any]

    @property
    def files(self) -> list[File]:
        """Files among its arguments, and those that others are generated from."""
        return [file for value in self.arguments.values() for file in _files(value)]

    @property
    def features(self) -> list[str]:
        """The metrics that are features of a network, if it trains one."""
        recipe = self.arguments.get("recipe")
        if isinstance(recipe, str):
            recipe = as_recipe(recipe)
        return [feature.metric for feature in recipe.features.features] if isinstance(recipe, Recipe) else []

    @property
    def needs(self) -> list[str]:
        """The requirements of the features of a network that it trains."""
        return [*dict.fromkeys(need for feature in self.features for need in needs_of_metric(feature))]


def _files(value: object) -> list[File]:
    if isinstance(value, Mapping | tuple):
        return [file for item in (value.values() if isinstance(value, Mapping) else value) for file in _files(item)]
    if isinstance(value, MadeFile):
        return [*value.sources]
    return [value] if isinstance(value, File) else []


@dataclass(frozen=True)
class PaperColumn:
    """The values of a column among the records of a run.

    Args:
        label: heading of the column in the paper.
        run: the run with the records; None if nothing computes them.
        where: key -> required value of a record.
        value: the key of the value.
        row: the key that identifies the row of a record.
    """

    label: str
    run: Run | None
    where: Mapping[str, object] = field(default_factory=dict)
    value: str = "value"
    row: str = "metric"


@dataclass(frozen=True)
class PaperTable:
    """A table or figure.

    Args:
        name: name on the command line.
        place: place in the paper, such as "table B.1".
        shows: what it shows, one sentence.
        rows: label of a row in the paper -> its value in the records: a request for a metric, as text; "people"; or
            another value. {FILE} in a request is a file in the folder of data. A row that nothing computes has an empty
            text.
        columns: the columns. None if nothing computes them.
        published: row -> the published figures by column, as printed; None if there is none.
        metrics: whether rows are metrics, which are passed to the runs.
        percent: whether the figures are multiplied by 100 in print.
        digits: printed digits after the decimal point.
        differs: why our figures differ; empty if they do not, or if nothing was published. Pages make a list of points
            that begin with "• ".
        comparable: whether agreement is meaningful: False if our data differ from the paper's, as explained in
            ``differs``.
        needs: requirements that captious cannot provide, such as captions or photographs: of all rows, or row ->
            requirements of that row. Those of metrics and trained networks are added automatically.
        remark: errors and omissions of the paper.
        command: another way to compute it, if not ``columns``.

    Raises:
        ParameterError: a row of figures, or of needs, that is not in the table; a row of another length; a row without
            a request or needs; a table without computation or needs, or one that is not comparable without a reason.
    """

    name: str
    place: str
    shows: str
    rows: Mapping[str, str] = field(default_factory=dict)
    columns: Sequence[PaperColumn] = ()
    published: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    metrics: bool = True
    percent: bool = False
    digits: int = 3
    differs: str = ""
    comparable: bool = True
    needs: str | Mapping[str, str] = ""
    remark: str = ""
    command: str = ""

    def __post_init__(self) -> None:
        wrong = ""
        if unknown := self.published.keys() - self.rows.keys():
            wrong = f"it has published figures for {min(unknown)!r}, which is not one of its rows"
        elif not isinstance(self.needs, str) and (unknown := self.needs.keys() - self.rows.keys()):
            wrong = f"it says what {min(unknown)!r} needs, which is not one of its rows"
        elif any(len(figures) != len(self.columns) for figures in self.published.values() if self.columns):
            wrong = "a row of published figures has not one figure per column"
        elif not (self.columns or self.command or self.needs):
            wrong = "it says neither how it is computed nor what it needs"
        elif unexplained := [row for row, request in self.rows.items() if not (request or self.need_of(row))]:
            wrong = f"it says neither what computes the row {unexplained[0]!r} nor what it needs"
        elif not (self.comparable or self.differs):
            wrong = "it cannot be compared, but does not say how it differs"
        if wrong:
            raise ParameterError(
                f"{self.name!r} is not a table of a paper: {wrong}",
                hint="help(captious.judgment.PaperTable) describes what it needs",
            )

    def need_of(self, row: str) -> str:
        """Return the declared requirements of a row."""
        return self.needs if isinstance(self.needs, str) else self.needs.get(row, "")

    @cached_property
    def all_needs(self) -> Mapping[str, Sequence[str]]:
        """All requirements besides judgments, of the table and its metrics: requirement -> rows.

        Raises:
            UnknownNameError, ParameterError: a row with an invalid request.
        """
        of_runs = dict.fromkeys(need for column in self.columns if column.run for need in column.run.needs)
        rows_of: dict[str, list[str]] = {} if self.rows or not isinstance(self.needs, str) else {self.needs: []}
        for row, request in self.rows.items():
            metric_needs = needs_of_metric(request) if self.metrics and request not in ("", PEOPLE) else []
            for need in dict.fromkeys([*filter(None, [self.need_of(row)]), *of_runs, *metric_needs]):
                rows_of.setdefault(need, []).append(row)
        return {need: rows for need, rows in rows_of.items() if need}

    @property
    def needs_text(self) -> str:
        """All requirements, with their rows, as text; empty if there are none."""
        return "; ".join(
            need + ("" if len(rows) == len(self.rows) else f", for {_joined(rows)}")
            for need, rows in self.all_needs.items()
        )

    @property
    def state(self) -> State:
        """State of the table."""
        needy = {row for rows in self.all_needs.values() for row in rows}
        rows = {row for row, request in self.rows.items() if request != PEOPLE}
        if not self.columns or needy >= rows or not any(column.run for column in self.columns):
            return "needs" if self.all_needs else "command"
        if not any(cell is not None for row, cells in self.published.items() if self.rows[row] for cell in cells):
            return "computed"
        if not self.comparable:
            return "not comparable"
        return "differs" if self.differs else "reproduced"

    @property
    def status(self) -> str:
        """The state, the requirements of the table, and how our figures differ."""
        clauses: list[str] = [self.state] if self.state not in ("needs", "differs") else []
        clauses += [f"needs {self.needs_text}"] if self.all_needs else []
        clauses += [f"differs: {self.differs}"] if self.differs else []
        return "; ".join(clauses)


def _joined(rows: Sequence[str]) -> str:
    *names, last = rows
    return f"{', '.join(names)} and {last}" if names else last


@dataclass(frozen=True)
class Paper:
    """A paper with its tables and figures.

    Args:
        name: name on the command line.
        title: authors, year and title.
        tables: in the order of the paper.

    Raises:
        ParameterError: two tables with one name.
    """

    name: str
    title: str
    tables: Sequence[PaperTable]

    def __post_init__(self) -> None:
        names = [table.name for table in self.tables]
        if len({*names}) < len(names):
            raise ParameterError(f"two tables of {self.name} have the same name", hint="give each its own")

    def table(self, name: str) -> PaperTable:
        """Return a table by its name.

        Raises:
            UnknownNameError: there is none.
        """
        by_name = {table.name: table for table in self.tables}
        if name not in by_name:
            guess = did_you_mean(name, by_name)
            raise UnknownNameError(
                f"{self.name} has no table {name!r}", hint=f"{guess}its tables are {', '.join(by_name)}"
            )
        return by_name[name]


def judged(benchmarks: str | Sequence[str], columns: Mapping[str, str]) -> list[PaperColumn]:
    """Return columns of agreement with people.

    Args:
        benchmarks: one or several, with protocols; all are judged in one run.
        columns: label -> "benchmark@protocol", or "benchmark@protocol part" for a part of it.
    """
    run = Run("judge", {"benchmarks": (benchmarks,) if isinstance(benchmarks, str) else tuple(benchmarks)})
    places = {label: place.partition(" ") for label, place in columns.items()}
    return [PaperColumn(label, run, {"benchmark": name, "part": part}) for label, (name, _, part) in places.items()]


def judged_parts(protocol: str, parts: Mapping[str, str], whole: str = "") -> list[PaperColumn]:
    """Return columns of agreement with people on parts of a benchmark.

    Args:
        protocol: "benchmark@protocol".
        parts: label -> the part.
        whole: label of a final column for the whole benchmark; empty for none.
    """
    columns = {label: f"{protocol} {part}" for label, part in parts.items()}
    return judged(protocol, columns | ({whole: protocol} if whole else {}))


# The catalogue of papers by name: built-in ones, and those of other packages.
#
# Another package adds one with an entry point of the group ``captious.papers``, whose name is that of the paper and
# whose value is a ``Paper``.

#: The papers of the package: each is the constant PAPER in the module of its name.
BUILT_IN = ("lceval", "wembsim", "leic", "yi2020", "smurf", "coco")
_PLUGINS = EntryPoints("captious.papers", "paper", BUILT_IN)


def names() -> list[str]:
    """Return the names of all papers: those of the package, then others by name."""
    return _PLUGINS.names


def get(name: str) -> Paper:
    """Return a paper.

    Raises:
        UnknownNameError: an unknown paper.
        ParameterError: an entry point that is not a paper.
    """
    if name in BUILT_IN:
        return import_module(f"captious.judgment.papers.{name}").PAPER  # type: ignore[no-any-return]
    if name not in _PLUGINS.by_name:
        guess = did_you_mean(name, names())
        raise UnknownNameError(f"there is no paper {name!r}", hint=f"{guess}available papers: {', '.join(names())}")
    paper: Paper = _PLUGINS.load(name, lambda item: isinstance(item, Paper), "a captious.judgment.Paper")
    return paper
