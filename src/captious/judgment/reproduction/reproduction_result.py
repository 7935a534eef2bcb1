"""Results of ``reproduce``: figures beside the published ones, their verdicts and counts, as tables."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from captious.errors import Message
from captious.judgment.papers import paper as papers
from captious.judgment.papers.paper import Paper, PaperColumn, PaperRow, PaperTable, Printed
from captious.judgment.results import data_text
from captious.tables import Cell, Column, Displayed, Form, Picture, Row, Table, json_document
from captious.version import __version__

FOLD = 110  # columns of a terminal
_NUMBER, _MARK = 6, 5  # columns of a terminal that a value takes, and the mark of a note
#: Verdicts -> the sign between our value and the published one.
SIGNS = {"equal": "=", "near": "≈", "differs": "≠"}
_MEANINGS = {
    "equal": "equal, to half a unit of the last printed digit",
    "near": "near, at most .01 or one point away",
    "differs": "differs",
}
_NEAR = 0.01
_ROUNDING = 1e-9
_NO_CAUSE = "cause not found"


@dataclass(frozen=True)
class Reproduced:
    """One figure of a table.

    Args:
        table, row, column: its position.
        value: the computed value, a fraction if the paper multiplies by 100; None if it is not computed.
        printed: the published figure; None if the paper prints none.
        reason: why it is not computed.
        other: what is not the paper's: data, a model, or drawn references.
        why: why it differs.
        percent: whether the paper multiplies by 100.
    """

    table: str
    row: str
    column: str
    value: float | None
    printed: Printed | None = None
    reason: str = ""
    other: tuple[str, ...] = ()
    why: str = ""
    percent: bool = False

    @classmethod
    def of(
        cls,
        table: PaperTable,
        row: PaperRow,
        column: PaperColumn,
        value: float | None,
        reason: str,
        other: Iterable[str],
    ) -> Reproduced:
        """Return the figure at a position of a table, beside what the paper prints there."""
        printed = table.figures.get((row.name, column.name))
        why = row.why or table.why
        return cls(table.name, row.name, column.name, value, printed, Message(reason), tuple(other), why, table.percent)

    @property
    def difference(self) -> float | None:
        """Computed value minus the published figure."""
        return None if self.value is None or self.printed is None else self.value - self.printed.value

    @property
    def verdict(self) -> str:
        """What the numbers alone say: "equal", to half a unit of the last printed digit; "near", at most .01 away, or
        one point where the paper prints percentages; "differs"; "not computed"; or "not printed".
        """
        if self.value is None:
            return "not computed"
        if self.printed is None:
            return "not printed"
        distance = abs(self.value - self.printed.value)
        if distance <= self.printed.unit / 2 + _ROUNDING:
            return "equal"
        return "near" if distance <= _NEAR + _ROUNDING else "differs"

    @property
    def shown(self) -> float | None:
        """Our value, as the paper prints it if they are equal: exactly between two figures, it rounds to that of the
        paper.
        """
        return self.printed.value if self.printed and self.verdict == "equal" else self.value


@dataclass(frozen=True)
class Counts:
    """How many of the published figures are equal, near, differ, are of other data, models or drawn references, or are
    not computed.
    """

    printed: int
    equal: int
    near: int
    differs: int
    other: int
    missing: int

    @classmethod
    def of(cls, figures: Iterable[Reproduced]) -> Counts:
        """Count figures; a figure of other data, models or references counts as nothing else."""
        printed = [figure for figure in figures if figure.printed]
        kinds = Counter("other" if f.other and f.value is not None else f.verdict for f in printed)
        return cls(len(printed), *(kinds[kind] for kind in ("equal", "near", "differs", "other", "not computed")))

    @property
    def text(self) -> str:
        """The counts, such as "14 of 18 equal, 3 near, 1 differs"."""
        if not self.printed:
            return "no figure printed"
        said = {
            "near": self.near,
            "differs" if self.differs == 1 else "differ": self.differs,
            "of other data or models": self.other,
            "not computed": self.missing,
        }
        return ", ".join([f"{self.equal} of {self.printed:,} equal", *(f"{n} {what}" for what, n in said.items() if n)])


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Displayed):
    """Tables of a paper, with computed and published figures. Displayed as a table.

    Args:
        paper: the paper.
        tables: the computed tables.
        figures: their figures, table by table and row by row.
        signatures: metric -> everything that its scores depend on besides the captions; "METRIC on BENCHMARK" -> the
            same there, if it is another.
        data: input files: name -> CRC-32.
        pictures: plots by file name without extension.
        warnings: warnings about misleading numbers, one sentence each.
        seconds: CPU time of each table, summed over cores, without results shared with earlier tables.
    """

    paper: Paper
    tables: Sequence[PaperTable]
    figures: Sequence[Reproduced]
    signatures: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    def of_table(self, name: str) -> list[Reproduced]:
        """Return the figures of a table."""
        return [figure for figure in self.figures if figure.table == name]

    def to_table(self) -> Table:
        """Return the paper's table, with computed and published figures; several tables one by one, and a line for all
        of them.
        """
        *shown, last = [_matrix(self.paper, table, self.of_table(table.name)) for table in self.tables]
        facts = {"": {"data": data_text(self.data)}} if self.data else {}
        total = f"{self.paper.name}: {Counts.of(self.figures).text}"
        signatures = [*dict.fromkeys(self.signatures.values())]
        last = replace(last, facts=facts, signatures=signatures, explanations=[total])
        first, *following = [*shown, last]
        return replace(
            first,
            records=self.records,
            document=self.to_dict(),
            following=following,
            comments=[f"captious {__version__}: {self.paper.title}", *first.comments],
            pictures=self.pictures,
            warnings=[*dict.fromkeys(self.warnings)],
        )

    @property
    def records(self) -> list[dict[str, Any]]:
        """One record per figure, for data frames and csv; numbers are fractions if the paper multiplies by 100."""
        return [
            {
                "paper": self.paper.name,
                "table": figure.table,
                "row": figure.row,
                "column": figure.column,
                "value": figure.value,
                "published": figure.printed.value if figure.printed else None,
                "difference": figure.difference,
                "verdict": figure.verdict,
                "other": "; ".join(figure.other),
                "reason": Message(figure.reason),
                "why": figure.why or _NO_CAUSE if figure.verdict == "differs" and not figure.other else "",
            }
            for figure in self.figures
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: all figures, and how many are equal, near, differ, or neither, by table."""
        return json_document(
            {
                "version": __version__,
                "paper": self.paper.name,
                "state": Counts.of(self.figures).text,
                "tables": {
                    table.name: {
                        "state": Counts.of(self.of_table(table.name)).text,
                        "counts": vars(Counts.of(self.of_table(table.name))),
                        "seconds": round(self.seconds.get(table.name, 0), 1),
                    }
                    for table in self.tables
                },
                "data": self.data,
                "signatures": self.signatures,
                "figures": self.records,
                **({"warnings": [*dict.fromkeys(self.warnings)]} if self.warnings else {}),
            }
        )


def _matrix(paper: Paper, table: PaperTable, figures: Sequence[Reproduced]) -> Table:
    """Return a table of the paper: for every column, ours, a sign, and the paper's."""
    found = {(figure.row, figure.column): figure for figure in figures}
    marks: dict[str, int] = {}
    columns: list[Column] = []
    rows: dict[str, list[Cell | None]] = {row.name: [] for row in table.rows}
    compared = {column.name: any((row, column.name) in table.figures for row in rows) for column in table.columns}
    for column in table.columns:
        heads = ("ours", "", "paper") if compared[column.name] else ("",)
        columns += [Column(head, align="center" if head == "" else "right", group=column.name) for head in heads]
        for row, cells in rows.items():
            cells += _cells(found[row, column.name], table, marks)[: len(heads)]
    width = 4 + max(map(len, rows)) + sum(2 + _MARK + max(len(name), _NUMBER) for name in compared)
    if not any(compared.values()) and width <= FOLD:
        columns = [replace(column, head=column.group, group="", align="right") for column in columns]
    verdicts = {figure.verdict for figure in figures}
    title = f"{paper.name} {table.name} ({table.place})"
    notes = [
        *(Message(f"[{number}] {text}") for text, number in marks.items()),
        table.shows,
        *explanations(figures),
        *([f"note: {table.note}"] if table.note else []),
        f"{table.name}: {Counts.of(figures).text}",
    ]
    return Table(
        columns=columns,
        rows=[Row(row, cells) for row, cells in rows.items()],
        records=[],
        document={},
        title=title,
        caption=f"{title}: {paper.title}",
        group_notes={column.group: "" for column in columns if column.group},
        notes=notes,
        fold=FOLD,
        comments=[title, *notes],
        legend="; ".join(f"{SIGNS[verdict]} {text}" for verdict, text in _MEANINGS.items() if verdict in verdicts),
    )


def _cells(figure: Reproduced, table: PaperTable, marks: dict[str, int]) -> list[Cell | None]:
    """Return our value, with marks for notes, the sign of the verdict, and the published figure."""
    digits = figure.printed.digits if figure.printed else table.digits
    form: Form = "percent" if figure.percent else "number"
    texts = [figure.reason] if figure.reason else [other_note(figure.other)] if figure.other and figure.printed else []
    mark = "".join(f"[{marks.setdefault(text, len(marks) + 1)}]" for text in texts)
    sign = SIGNS.get(figure.verdict)
    return [
        Cell(figure.shown, marks=mark, form=form, digits=digits),
        Cell(sign) if sign else None,
        Cell(figure.printed.value, form=form, digits=digits) if figure.printed else None,
    ]


def other_note(other: Sequence[str]) -> str:
    """Return the note that figures are of other data, models or references than the paper's."""
    return f"not the paper's: {'; '.join(other)}"


def explanations(figures: Iterable[Reproduced]) -> list[str]:
    """Return why figures differ, one sentence for all rows with the same cause."""
    rows_of: dict[str, dict[str, None]] = {}
    for figure in figures:
        if figure.verdict == "differs" and not figure.other:
            rows_of.setdefault(figure.why or _NO_CAUSE, {})[figure.row] = None
    return [f"{', '.join(rows)}: {why}" for why, rows in rows_of.items()]


# Figures of the package's papers as they were last computed, for lists and pages.

_MEASURED = Path(papers.__file__).with_name("measured")
_FIELDS = ("table", "row", "column", "value", "other", "reason")


def measured(paper: Paper) -> list[Reproduced] | None:
    """Return the figures of a paper as they were last computed, beside what it prints; None if they never were."""
    records = _read_measured(paper)
    return _figures(paper, records) if records else None


def write_measured(document: Mapping[str, Any]) -> None:
    """Keep the figures of a document of ``Reproduction.to_dict`` beside those of other tables of the paper."""
    paper = papers.get(document["paper"])
    new = {(r["table"], r["row"], r["column"]): r for r in document["figures"]}
    figures = _figures(paper, _read_measured(paper) | new)
    _MEASURED.mkdir(exist_ok=True)
    with _measured_file(paper).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(_FIELDS)
        for f in figures:
            value = "" if f.value is None else f"{f.value:.9g}"
            writer.writerow([f.table, f.row, f.column, value, "; ".join(f.other), f.reason])


def _measured_file(paper: Paper) -> Path:
    return _MEASURED / f"{paper.name}.tsv"


def _read_measured(paper: Paper) -> dict[tuple[str, str, str], Mapping[str, Any]]:
    file = _measured_file(paper)
    if paper.name not in papers.BUILT_IN or not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as lines:
        return {(r["table"], r["row"], r["column"]): r for r in csv.DictReader(lines, delimiter="\t")}


def _figures(paper: Paper, records: Mapping[tuple[str, str, str], Mapping[str, Any]]) -> list[Reproduced]:
    """Return all figures of a paper with the values, reasons and other data in records."""
    figures = []
    for table in paper.tables:
        for row, column in product(table.rows, table.columns):
            record = records.get((table.name, row.name, column.name), {})
            value, other = record.get("value"), record.get("other")
            number = None if value in ("", None) else float(value)
            reason = str(record.get("reason", ""))
            figures.append(Reproduced.of(table, row, column, number, reason, other.split("; ") if other else ()))
    return figures
