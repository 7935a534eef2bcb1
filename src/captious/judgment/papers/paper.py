"""What a paper is: tables and figures that name what computes them, and the figures that were published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from captious.errors import ParameterError, UnknownNameError

#: What tables over systems of the COCO challenge of 2015 need, where the leaderboard's scores are not enough.
CHALLENGE_CAPTIONS = (
    "the captions of val2014 by twelve systems of the COCO challenge of 2015: Google, Montreal/Toronto, Berkeley "
    "LRCN, m-RNN, PicSOM, Brno University, m-RNN (Baidu/ UCLA), MIL, MLBL, NeuralTalk, ACVT and Tsinghua Bigeye. "
    "Issue 121 of Tiiiger/bert_score links a copy; captious study systems FILE... REFERENCES --human coco-2015 then "
    "takes minutes"
)


@dataclass(frozen=True)
class File:
    """A file in the folder of judgment data; ``*`` in the name stands for anything, and for several files."""

    name: str


@dataclass(frozen=True)
class MadeFile:
    """A file that is made from others in the folder of judgment data.

    Args:
        name: of the file.
        maker: name of the function of ``captious.judgment.made_files`` that makes it.
        sources: the files that it needs.
    """

    name: str
    maker: str
    sources: tuple[File, ...]


@dataclass(frozen=True)
class Run:
    """A call that gives records: of ``judge``, or of a study.

    Args:
        function: "judge", or the name of a function of ``captious.judgment.studies``.
        arguments: its arguments, except metrics, data, settings, resamples and seed. A ``File`` or ``MadeFile`` stands
            for its path, also in a tuple and as a value of a mapping.
    """

    function: str
    arguments: Mapping[str, Any]

    @property
    def files(self) -> list[File]:
        """The files among its arguments, and those that others are made from."""
        return [file for value in self.arguments.values() for file in _files(value)]


def _files(value: object) -> list[File]:
    if isinstance(value, Mapping | tuple):
        return [file for each in (value.values() if isinstance(value, Mapping) else value) for file in _files(each)]
    if isinstance(value, MadeFile):
        return [*value.sources]
    return [value] if isinstance(value, File) else []


@dataclass(frozen=True)
class PaperColumn:
    """Where the values of a column are, among the records of a run.

    Args:
        label: what the paper calls the column.
        run: what gives the records; None if nothing here does.
        where: key -> value that a record has.
        value: the key of the value.
        row: the key under which a record has what the row is about.
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
        name: as the command line takes it.
        place: where it is in the paper, such as "table B.1".
        shows: what it shows, one sentence.
        rows: what the paper calls a row -> what the records call it: a request for a metric, as text; "people"; or
            another value. {FILE} in a request is a file in the folder of data. A row that nothing here computes has an
            empty text.
        columns: what computes the values. None if nothing here does.
        published: row -> the published figures by column, as printed; None where there is none.
        metrics: whether rows are metrics, which the runs then get.
        percent: the figures are printed in hundredths.
        digits: digits behind the point, as printed.
        differs: why ours differ; empty if they do not, or if nothing was published.
        needs: what it needs that captious cannot bring: files, models, a GPU.
        remark: what the paper got wrong or left open.
        command: what else computes it, if not ``columns``.

    Raises:
        ParameterError: a row of figures that is not in the table, or of another length; a table that neither says how
            it is computed nor what it needs.
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
    needs: str = ""
    remark: str = ""
    command: str = ""

    def __post_init__(self) -> None:
        wrong = ""
        if unknown := self.published.keys() - self.rows.keys():
            wrong = f"it has published figures for {min(unknown)!r}, which is not one of its rows"
        elif any(len(figures) != len(self.columns) for figures in self.published.values() if self.columns):
            wrong = "a row of published figures has not one figure per column"
        elif not (self.columns or self.command or self.needs):
            wrong = "it says neither how it is computed nor what it needs"
        if wrong:
            raise ParameterError(
                f"{self.name!r} is not a table of a paper: {wrong}",
                help="help(captious.judgment.PaperTable) describes what it needs",
            )

    @property
    def state(self) -> str:
        """Works, differs or needs: the first word of ``status``."""
        return self.status.partition(" ")[0].rstrip(":")

    @property
    def status(self) -> str:
        """Whether it works, what it needs, and how ours differ: a word, and why."""
        said = [f"needs {self.needs}"] if self.needs else []
        said += [f"differs: {self.differs}"] if self.differs else []
        return ". ".join(said) or "works"


@dataclass(frozen=True)
class Paper:
    """A paper with its tables and figures.

    Args:
        name: as the command line takes it.
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
            raise ParameterError(f"two tables of {self.name} have the same name", help="give each its own")

    def table(self, name: str) -> PaperTable:
        """A table by its name.

        Raises:
            UnknownNameError: there is none.
        """
        by_name = {table.name: table for table in self.tables}
        if name not in by_name:
            raise UnknownNameError(f"{self.name} has no table {name!r}", help=f"its tables are {', '.join(by_name)}")
        return by_name[name]


def judged(benchmarks: str | Sequence[str], columns: Mapping[str, str]) -> list[PaperColumn]:
    """Columns of agreement with people.

    Args:
        benchmarks: one or several, with protocols; all are judged in one run.
        columns: label -> "benchmark@protocol", or "benchmark@protocol part" for a part of it.
    """
    run = Run("judge", {"benchmarks": (benchmarks,) if isinstance(benchmarks, str) else tuple(benchmarks)})
    places = {label: place.partition(" ") for label, place in columns.items()}
    return [PaperColumn(label, run, {"benchmark": name, "part": part}) for label, (name, _, part) in places.items()]


def judged_parts(protocol: str, parts: Mapping[str, str], whole: str = "") -> list[PaperColumn]:
    """Columns of agreement with people on parts of a benchmark.

    Args:
        protocol: "benchmark@protocol".
        parts: label -> the part.
        whole: label of a column of the whole benchmark at the end; empty for none.
    """
    columns = {label: f"{protocol} {part}" for label, part in parts.items()}
    return judged(protocol, columns | ({whole: protocol} if whole else {}))
