"""Results of ``reproduce``: computed and published figures of a paper, as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from captious.errors import Message
from captious.judgment.papers.paper import Paper, PaperTable
from captious.judgment.results import data_text
from captious.statistics import Sampling
from captious.tables import Cell, Column, Displayed, Form, Picture, Row, Table, json_document
from captious.version import __version__
from captious.words import percentage

FOLD = 110  # columns of a terminal
_MOST_WITH_INTERVALS = 2  # columns of a paper's table
_NUMBER, _MARK = 6, 5  # columns of a terminal that a value takes, and the mark of a note
#: Between our value and the published one.
SIGNS = {"same": "=", "within interval": "≈", "differs": "≠", "not comparable": "|"}
_MEANINGS = {
    "=": "the same as published, to half a unit of the last digit",
    "≈": "the published figure is in our interval",
    "≠": "neither the same nor in our interval",
    "|": "not comparable",
}


@dataclass(frozen=True)
class Reason:
    """The reason for a missing value.

    Args:
        kind: "needs", if a requirement is missing; "command", if another command computes it; "not computed".
        text: the requirement, the command, or the problem.
        below: whether the table states it.
    """

    kind: Literal["needs", "command", "not computed"]
    text: str
    below: bool = False


@dataclass(frozen=True)
class Reproduced:
    """One figure of a table.

    Args:
        table, column, row: its position; the column is empty for a table without computation.
        value: the computed value, a fraction if the paper multiplies by 100; None if it cannot be computed.
        interval: its 95% interval, if there is one.
        published: the published figure, on the same scale; None if unavailable.
        unit: one unit of its last digit.
        reason: the reason for a missing value; None otherwise.
        percent: whether the paper multiplies by 100.
        p: p of no correlation over systems; None if systems are not compared.
        comparable: whether our value is on the paper's data.
        stand_ins: substitutes for the paper's resources, such as a parser or word vectors.
    """

    table: str
    column: str
    row: str
    value: float | None
    interval: tuple[float, float] | None
    published: float | None
    unit: float
    reason: Reason | None = None
    percent: bool = False
    p: float | None = None
    comparable: bool = True
    stand_ins: tuple[str, ...] = ()

    @property
    def difference(self) -> float | None:
        """Computed value minus the published figure."""
        return None if self.value is None or self.published is None else self.value - self.published

    @property
    def verdict(self) -> str:
        """Result of the comparison, or why there is none.

        "same" if they differ by at most half a unit of the paper's last digit, so that both round alike; "within
        interval" if the published figure is in our interval; else "differs". "not comparable" if ours is on other data.
        Without a value, "needs", "command" or "not computed", as in ``reason``, or "undefined" if the statistic is;
        without a published figure, "published figure not at hand".
        """
        if self.reason is not None:
            return self.reason.kind
        if self.value is None:
            return "undefined"
        if self.published is None:
            return "published figure not at hand"
        if not self.comparable:
            return "not comparable"
        if self.is_same:
            return "same"
        if self.interval is not None and self.interval[0] <= self.published <= self.interval[1]:
            return "within interval"
        return "differs"

    @property
    def is_same(self) -> bool:
        """Whether both print alike: exactly between two figures, our value rounds to that of the paper."""
        return self.difference is not None and abs(self.difference) <= self.unit / 2 + 1e-9

    @property
    def printed(self) -> float | None:
        """Our value as the paper would print it."""
        return self.published if self.is_same else self.value


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Displayed):
    """Tables of a paper, with computed and published figures. Displayed as a table.

    Args:
        paper: the paper.
        tables: the computed tables.
        figures: their figures, table by table and column by column.
        sampling: sampling of the intervals.
        signatures: metric -> everything that its scores depend on besides the captions.
        data: input files: name -> CRC-32.
        pictures: figures by file name without extension.
        warnings: warnings about misleading numbers, one sentence each.
        seconds: CPU time of each table, summed over cores, without results shared with earlier tables.
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
        """Return the paper's table, with computed and published figures; several tables one by one."""
        first, *following = [self._matrix(table) for table in self.tables]
        facts = {"data": data_text(self.data)} if self.data else {}
        *_, last = [first, *following]
        last = replace(last, facts={"": facts} if facts else {}, signatures=[*dict.fromkeys(self.signatures.values())])
        if following:
            following[-1] = last
        else:
            first = last
        return replace(
            first,
            records=self.records,
            document=self.to_dict(),
            following=following,
            comments=[f"captious {__version__}: {self.paper.title}", *first.comments],
            pictures=self.pictures,
            warnings=[*dict.fromkeys(self.warnings)],
        )

    def _matrix(self, table: PaperTable) -> Table:
        """Return a table of the paper."""
        figures = {(figure.row, figure.column): figure for figure in self.figures if figure.table == table.name}
        marks = _Marks()
        labels = [*dict.fromkeys(column for _, column in figures)]
        detailed = len(labels) <= _MOST_WITH_INTERVALS
        rows: dict[str, list[Cell | None]] = {row: [] for row, _ in figures}
        by_label = {label: [figures[row, label] for row in rows] for label in labels}
        level = percentage(self.sampling.level)
        columns_of = {
            label: _columns(column_figures, label, level if detailed else None)
            for label, column_figures in by_label.items()
        }
        columns = [column for pairs in columns_of.values() for column, _ in pairs]
        marked = any(figure.reason is not None and not figure.reason.below for figure in figures.values())
        room = 2 + _MARK * marked
        width = 4 + max(map(len, rows)) + sum(room + max(len(label), _NUMBER) for label in labels)
        if len(columns) == len(labels) and width <= FOLD:
            columns = [replace(column, head=column.group, group="") for column in columns]
        for label, pairs in columns_of.items():
            for figure in by_label[label]:
                rows[figure.row] += [cell(figure, table, marks) for _, cell in pairs]
        verdicts = {figure.verdict for figure in figures.values()}
        signs = {sign: meaning for word, sign in SIGNS.items() if word in verdicts for meaning in [_MEANINGS[sign]]}
        notes = [*marks.notes, table.shows]
        notes += [f"{label}: {text}" for label, text in table_notes(table).items()]
        title = f"{self.paper.name} {table.name} ({table.place})"
        signatures = [text for label, text in self.signatures.items() if label in table.rows.values()]
        return Table(
            columns=columns,
            rows=[Row(row, cells) for row, cells in rows.items()],
            records=[],
            document={},
            title=title,
            caption=f"{title}: {self.paper.title}",
            group_notes={column.group: "" for column in columns if column.group},
            notes=[*([self.paper.title] if table is self.tables[0] else []), *notes],
            fold=FOLD,
            comments=[title, *notes, *(f"  {signature}" for signature in signatures)],
            legend="; ".join(f"{sign} {meaning}" for sign, meaning in signs.items()),
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
                "reason": Message(figure.reason.text) if figure.reason else "",
                "stand_ins": "; ".join(figure.stand_ins),
            }
            for figure in self.figures
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values; numbers are fractions if the paper multiplies by 100."""
        return json_document(
            {
                "version": __version__,
                "paper": self.paper.name,
                "tables": [table.name for table in self.tables],
                "states": {table.name: table.state for table in self.tables},
                **self.sampling.settings,
                "data": self.data,
                "signatures": self.signatures,
                "seconds": {table: round(duration, 1) for table, duration in self.seconds.items()},
                "figures": self.records,
                **({"warnings": [*dict.fromkeys(self.warnings)]} if self.warnings else {}),
            }
        )


def table_notes(table: PaperTable) -> dict[str, str]:
    """Return notes below a table: label -> text."""
    texts = {
        "differs": table.differs,
        "needs": table.needs_text,
        "remark": table.remark,
        "command": table.command,
    }
    return {label: text for label, text in texts.items() if text}


class _Marks:
    """Numbered notes below a table."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def add(self, text: str) -> str:
        """Return the mark of a note, which is numbered if it is new."""
        return f"[{self._numbers.setdefault(text, len(self._numbers) + 1)}]"

    @property
    def notes(self) -> list[str]:
        return [Message(f"[{number}] {text}") for text, number in self._numbers.items()]


_CellOf: TypeAlias = Callable[[Reproduced, PaperTable, _Marks], Cell | None]


def _columns(figures: Sequence[Reproduced], label: str, level: str | None) -> list[tuple[Column, _CellOf]]:
    """Return columns for one of the paper, with their cells; without a level, only those of the figures."""
    compared = any(figure.published is not None for figure in figures)
    columns: list[tuple[Column, _CellOf]] = [
        (Column("ours" if compared else "", group=label), _computed),
    ]
    if level is not None and any(figure.interval for figure in figures):
        columns.append((Column(level, "number", group=label), _interval))
    if level is not None and any(figure.p is not None for figure in figures):
        columns.append((Column("p", "p", group=label, in_papers="p"), lambda figure, *_: _optional(figure.p)))
    if compared:
        columns.append((Column("", align="center", group=label), lambda figure, *_: _optional(_sign(figure))))
        columns.append((Column("paper", group=label), _published))
    if level is not None and any(figure.comparable and figure.difference is not None for figure in figures):
        columns.append((Column("difference", "difference", group=label), _difference))
    return columns


def _computed(figure: Reproduced, table: PaperTable, marks: _Marks) -> Cell:
    """Return our value, with a mark for substitutes or for the reason of a missing value."""
    mark = ""
    if figure.reason is not None and not figure.reason.below:
        mark = marks.add(figure.reason.text)
    elif figure.reason is None and figure.value is None:
        mark = marks.add("undefined here, as the statistic is for constant scores or a single rating")
    elif figure.stand_ins and figure.published is not None:
        mark = marks.add(stand_in_note(figure))
    return Cell(figure.printed, marks=mark, form=_form(figure), digits=table.digits)


def stand_in_note(figure: Reproduced) -> str:
    """Return the note that a figure was computed with substitutes."""
    *names, last = figure.stand_ins
    resources = f"{', '.join(names)}{' and ' if names else ''}{last}"
    return f"computed with {resources}, unlike the paper: an equal figure may be a coincidence"


def _published(figure: Reproduced, table: PaperTable, marks: _Marks) -> Cell | None:
    return None if figure.published is None else Cell(figure.published, form=_form(figure), digits=table.digits)


def _interval(figure: Reproduced, table: PaperTable, marks: _Marks) -> Cell | None:
    return None if figure.interval is None else Cell(figure.interval, form=_form(figure), digits=table.digits)


def _difference(figure: Reproduced, table: PaperTable, marks: _Marks) -> Cell | None:
    if figure.difference is None or not figure.comparable:
        return None
    form: Form = "percent difference" if figure.percent else "difference"
    return Cell(figure.difference, form=form, digits=table.digits + 1)


def _sign(figure: Reproduced) -> str | None:
    return SIGNS.get(figure.verdict)


def _optional(value: object) -> Cell | None:
    return None if value is None else Cell(value)


def _form(figure: Reproduced) -> Form:
    return "percent" if figure.percent else "number"
