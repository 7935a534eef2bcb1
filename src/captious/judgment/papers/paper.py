"""``Paper``: the tables of a paper with their computations and published figures, read from a file; papers by name."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from captious.errors import CaptiousError, ParameterError, UnknownNameError, marked
from captious.judgment.judgments import PEOPLE
from captious.judgment.scores import FILE_NAME, needs_of_metric
from captious.learned.networks import FeatureSet, Recipe, as_recipe
from captious.plugins import EntryPoints, choices

T = TypeVar("T")
#: The function of a run that compares metrics with people; others are studies.
JUDGE = "judge"
#: The statistic of a column that is the mean of those before it.
MEAN = "mean"
#: Files of examples for training, generated from others: name -> the files that it needs. The functions of these names
#: in ``captious.judgment.judging`` write them.
MADE_FILES = {
    "coco_examples": (
        "coco/captions_val2014.json",
        "coco/evaluation_images.json",
        "coco/results_val2014/vinyals-et-al-2017.json",
    ),
    "expert_ratings": ("flickr8k/expert.jsonl",),
}


@dataclass(frozen=True)
class Run:
    """A call that returns records: of ``judge``, or of a study.

    Args:
        function: "judge", or the name of a function of ``captious.judgment.studies``.
        arguments: its arguments, except metrics, data, settings and seed. The text ``{NAME}`` stands for a file in the
            folder of judgment data, or for one of ``MADE_FILES``, also within a list or mapping.
    """

    function: str
    arguments: Mapping[str, Any]

    @property
    def files(self) -> list[str]:
        """Names of the files among its arguments, and of those that others are generated from."""
        names = [name for text in _texts(self.arguments) for name in FILE_NAME.findall(text)]
        return [file for name in names for file in MADE_FILES.get(name, (name,))]

    @property
    def recipe(self) -> Recipe | None:
        """The recipe of a network that it trains: a name, or what differs from "lceval"."""
        recipe = self.arguments.get("recipe")
        if not isinstance(recipe, Mapping):
            return None if recipe is None else as_recipe(recipe)
        features = {"name": recipe["name"], "features": recipe.get("features")}
        changed = {"features": FeatureSet.from_dict(features)} if "features" in recipe else {}
        return replace(as_recipe("lceval"), **{**recipe, **changed})

    @property
    def features(self) -> list[str]:
        """The metrics that are features of a network, if it trains one."""
        return [feature.metric for feature in self.recipe.features.features] if self.recipe else []


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [text for item in inner for text in _texts(item)]


@dataclass(frozen=True)
class PaperColumn:
    """A column: where its values are among the records of a run.

    Args:
        name: its heading.
        judge: a protocol, such as "composite@hessel2021", whose statistic it shows.
        part: a part of the protocol, such as "HC".
        run: the name of a run of the paper, if it is not judged. Without either, nothing computes the column.
        where: key -> required value of a record.
        value: the key of the value, such as "p"; "mean" for the mean of the columns before it.
        row: the key that identifies the row of a record.
        other: as for a row, of this column in place of all rows; an empty text for nothing.
    """

    name: str
    judge: str = ""
    part: str = ""
    run: str = ""
    where: Mapping[str, object] = field(default_factory=dict)
    value: str = "value"
    row: str = "metric"
    other: str | None = None


@dataclass(frozen=True)
class Printed:
    """A figure as printed.

    Args:
        value: the figure, a fraction if the paper multiplies by 100.
        unit: one unit of its last digit.
        digits: its digits after the decimal point.
    """

    value: float
    unit: float
    digits: int

    @classmethod
    def read(cls, text: str, *, percent: bool) -> Printed:
        """Read a figure such as ".290" or "-44.93".

        Raises:
            ValueError: it is not a number.
        """
        digits = len(text.partition(".")[2])
        scale = 100 if percent else 1
        return cls(round(float(text) / scale, digits + 2), 10.0**-digits / scale, digits)


@dataclass(frozen=True)
class PaperRow:
    """A row: what computes it, and its published figures.

    Args:
        name: its name in the paper.
        metric: a request for a metric, as for ``-m``, or "people". {FILE} is a file in the folder of data.
        record: otherwise, the value that identifies its record. Without either, nothing computes the row.
        printed: the published figures, as printed, in the order of the columns and between blanks; "-" for none.
        needs: what captious cannot provide. Needs of metrics are added.
        other: what is not the paper's: data, a model, or drawn references. Such figures count neither as equal nor as
            near.
        why: why figures differ, one or two sentences.
    """

    name: str
    metric: str = ""
    record: str = ""
    printed: str = ""
    needs: str = ""
    other: str = ""
    why: str = ""

    @property
    def computed_from(self) -> str:
        """The metric, or what identifies the record; empty if nothing computes the row."""
        return self.metric or self.record


@dataclass(frozen=True)
class PaperTable:
    """A table or figure of a paper.

    Args:
        name: name on the command line.
        place: place in the paper, such as "table B.1".
        shows: what it shows, one sentence.
        columns, rows: the columns and rows.
        percent: whether the figures are multiplied by 100 in print.
        needs: as for a row, of the rows that nothing computes or, if there are none, of all.
        other, why: as for a row, of all rows.
        note: errors and omissions of the paper.

    Raises:
        ParameterError: two rows or columns of one name, a row with another number of figures, a figure that is not a
            number, or a row that says neither what computes it nor what it needs.
    """

    name: str
    place: str
    shows: str
    columns: Sequence[PaperColumn]
    rows: Sequence[PaperRow]
    percent: bool = False
    needs: str = ""
    other: str = ""
    why: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for names in ([row.name for row in self.rows], [column.name for column in self.columns]):
            if repeated := next((name for name in names if names.count(name) > 1), None):
                raise self.error(f"{repeated!r} occurs twice", "give each row and column its own name")
        computes = any(column.judge or column.run for column in self.columns)
        for row in self.rows:
            if row.printed and len(row.printed.split()) != len(self.columns):
                raise self.error(f"{row.name!r} has not one figure per column", 'write "-" for one that is not printed')
            if not ((row.computed_from and computes) or row.needs or self.needs):
                raise self.error(f"it says neither what computes {row.name!r} nor what it needs", "say either")
        try:
            assert self.figures is not None
        except ValueError as error:
            raise self.error(f"a figure is not a number: {error}", 'write "-" for one that is not printed') from error
        judged = {column.name for column in self.columns if column.judge}
        beyond = [
            printed for (_, column), printed in self.figures.items() if column in judged and abs(printed.value) > 1
        ]
        if beyond:
            raise self.error(
                f"{beyond[0].value:g} is neither a correlation nor an accuracy",
                "percent = true says that a table prints them in percent; others are in a table of their own",
            )

    def error(self, message: str, hint: str) -> ParameterError:
        """Return an error about this table."""
        return ParameterError(message, where=f"table {self.name}", hint=hint)

    @cached_property
    def figures(self) -> Mapping[tuple[str, str], Printed]:
        """The published figures: (row, column) -> figure."""
        return {
            (row.name, column.name): Printed.read(text, percent=self.percent)
            for row in self.rows
            for column, text in zip(self.columns, row.printed.split(), strict=False)
            if text != "-"
        }

    @property
    def has_metrics(self) -> bool:
        """Whether rows are metrics, which are passed to the runs."""
        return any(row.metric for row in self.rows)

    @property
    def digits(self) -> int:
        """Digits after the decimal point, of values without a published figure."""
        return max((figure.digits for figure in self.figures.values()), default=1 if self.percent else 3)

    def needs_of(self, row: PaperRow) -> list[str]:
        """Return everything that a row needs besides judgments: what is declared, and the needs of its metric.

        The needs of the table are those of rows that nothing computes, or of all rows if there is no such row.

        Raises:
            UnknownNameError, ParameterError: an invalid request.
        """
        idle = [other for other in self.rows if not (other.computed_from or other.needs)]
        of_table = self.needs if row in idle or not idle else ""
        of_metric = needs_of_metric(row.metric) if row.metric not in ("", PEOPLE) else []
        return [need for need in dict.fromkeys((row.needs or of_table, *of_metric)) if need]

    @property
    def needs_text(self) -> str:
        """The needs of all rows, with their rows, as text; empty if there are none. Names with commas are in quotes."""
        rows_of: dict[str, list[str]] = {}
        for row in self.rows:
            for need in self.needs_of(row):
                rows_of.setdefault(need, []).append(f'"{row.name}"' if "," in row.name else row.name)
        return "; ".join(
            need + ("" if len(rows) == len(self.rows) else f" (for {', '.join(rows)})")
            for need, rows in rows_of.items()
        )


@dataclass(frozen=True)
class Paper:
    """A paper with its tables and figures.

    Args:
        name: name on the command line.
        title: authors, year and title.
        tables: in the order of the paper.
        runs: calls of studies, by the names that columns have for them.

    Raises:
        ParameterError: two tables with one name, or a column with an unknown run.
    """

    name: str
    title: str
    tables: Sequence[PaperTable]
    runs: Mapping[str, Run] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [table.name for table in self.tables]
        if len({*names}) < len(names):
            raise ParameterError(f"two tables of {self.name} have the same name", hint="give each its own")
        for table in self.tables:
            for column in table.columns:
                if column.run and column.run not in self.runs:
                    hint = choices(column.run, self.runs, "its runs are")
                    raise table.error(f"there is no run {column.run!r}", hint)

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> Paper:
        """Read a paper from a TOML file, whose name is that of the paper.

        Its keys are ``title``; ``runs``: name -> the ``function`` and its arguments; ``tables``: name -> the fields of
        ``PaperTable``, with rows and columns as arrays of tables.

        Raises:
            ParameterError: it is not such a file; names the file and the table.
        """
        path = Path(file)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
            runs = {name: Run(run.pop("function"), run) for name, run in content.pop("runs", {}).items()}
            tables = [_table(name, table) for name, table in content.pop("tables").items()]
            return _made(cls, {**content, "name": path.stem, "tables": tables, "runs": runs}, "the paper")
        except CaptiousError as error:
            where = ", ".join(filter(None, [str(path), marked(error.where)]))
            raise ParameterError(error.message, where=where, hint=error.hint) from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ParameterError(
                f"this is not a paper: {type(error).__name__} {error}",
                where=str(path),
                hint="help(captious.judgment.Paper.read) describes the format",
            ) from error

    def table(self, name: str) -> PaperTable:
        """Return a table by its name.

        Raises:
            UnknownNameError: there is none.
        """
        by_name = {table.name: table for table in self.tables}
        if name not in by_name:
            hint = choices(name, by_name, "its tables are")
            raise UnknownNameError(f"{self.name} has no table {name!r}", hint=hint)
        return by_name[name]


def _table(name: str, content: Mapping[str, Any]) -> PaperTable:
    where = f"table {name}"
    columns = [_made(PaperColumn, column, where) for column in content["columns"]]
    rows = [_made(PaperRow, row, where) for row in content["rows"]]
    return _made(PaperTable, {**content, "name": name, "columns": columns, "rows": rows}, where)


def _made(kind: type[T], content: Mapping[str, Any], where: str) -> T:
    """Return an object with these fields; raises ParameterError for an unknown one."""
    known = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    if unknown := next((name for name in content if name not in known), None):
        hint = choices(unknown, known, "the keys are")
        raise ParameterError(f"there is no key {unknown!r}", where=where, hint=hint)
    return kind(**content)


# The catalogue of papers by name: built-in ones, and those of other packages.
#
# Another package adds one with an entry point of the group ``captious.papers``, whose name is that of the paper and
# whose value is a ``Paper``.

#: The papers of the package: each is a file beside this one.
BUILT_IN = ("lceval", "wembsim", "leic", "yi2020", "smurf", "coco")
_PLUGINS = EntryPoints("captious.papers", "paper", BUILT_IN)


def names() -> list[str]:
    """Return the names of all papers: those of the package, then others by name."""
    return _PLUGINS.names


def get(name: str) -> Paper:
    """Return a paper.

    Raises:
        UnknownNameError: an unknown paper.
        ParameterError: an entry point that is not a paper, or a paper that cannot be read.
    """
    if name in BUILT_IN:
        return Paper.read(Path(__file__).with_name(f"{name}.toml"))
    if name not in _PLUGINS.by_name:
        raise UnknownNameError(f"there is no paper {name!r}", hint=choices(name, names(), "available papers:"))
    paper: Paper = _PLUGINS.load(name, lambda item: isinstance(item, Paper), "a captious.judgment.Paper")
    return paper
