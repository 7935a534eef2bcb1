"""Judgments and studies as tables for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from captious.report import numbers
from captious.report.provenance import (
    NOTHING,
    cell,
    explanations,
    heading,
    in_order,
    is_number,
    protocol_facts,
    signatures_of,
    statistic_of,
    study_facts,
    study_signatures,
)
from captious.report.tables import shown

if TYPE_CHECKING:
    from captious.judgment import Judgment, Study, Verdict

__all__ = ["judgment_table", "study_table"]

_WIDTH = 100  # columns; wider benchmarks are shown one below the other
_GAP = 3  # columns between benchmarks


@dataclass(frozen=True)
class _Column:
    head: str
    cells: Sequence[str]
    style: str = ""
    best: str = ""  # this cell is set bold

    @property
    def width(self) -> int:
        return max(cell_len(text) for text in (self.head, *self.cells))


@dataclass(frozen=True)
class _Block:
    """Columns of one benchmark, under their own headings."""

    heads: tuple[str, str]
    columns: Sequence[_Column]

    @property
    def width(self) -> int:
        across = sum(column.width + 2 for column in self.columns) - 2
        return max(across, *(cell_len(head) for head in self.heads))

    def head(self) -> Text:
        names = "  ".join(_right(column.head, column.width) for column in self.columns)
        return Text("\n".join((*self.heads, names)))

    def row(self, number: int) -> Text:
        pieces = [
            Text(_right(text, column.width), "bold" if text == column.best else column.style)
            for column in self.columns
            for text in (column.cells[number],)
        ]
        return Text("  ").join(pieces)


def judgment_table(judgment: Judgment) -> Group:
    """Metrics by benchmark, values in hundredths with intervals and ranks; below, all that the numbers depend on."""
    metrics = in_order(judgment)
    tables: list[list[_Block]] = []
    margin = max(cell_len(numbers.plain(metric)) for metric in metrics) + 2 + _GAP
    room = 0
    for block in (block for v in judgment.values() for block in _blocks(v, metrics, judgment.level, _WIDTH - margin)):
        if not tables or block.width > room:
            tables.append([])
            room = _WIDTH - margin
        tables[-1].append(block)
        room -= block.width + _GAP
    parts: list[RenderableType] = []
    for blocks in tables:
        table = Table(box=None, header_style="", padding=(0, _GAP, 0, 0))
        table.add_column("", no_wrap=True)
        for block in blocks:
            table.add_column(block.head(), no_wrap=True)
        for number, metric in enumerate(metrics):
            table.add_row(shown(f"  {metric}"), *(block.row(number) for block in blocks))
        parts += [table, ""]
    for name, verdict in judgment.items():
        parts += [_dim(name), _facts(protocol_facts(verdict))]
    parts += [_dim("signatures"), *(_dim(f"  {signature}") for signature in signatures_of(judgment))]
    return Group(*parts, "", *_sentences(explanations(judgment)))


def study_table(study: Study) -> Group:
    """The records of a study; below, its notes and all that the numbers depend on."""
    table = Table(box=None, header_style="", padding=(0, 2, 0, 0))
    for number, column in enumerate(study.columns):
        values = [record.get(column) for record in study.records]
        head = Text(("  " if number == 0 else "") + numbers.plain(heading(column)))
        table.add_column(head, justify="right" if any(map(is_number, values)) else "left", no_wrap=True)
    for record in study.records:
        first, *others = (cell(record.get(column)) for column in study.columns)
        table.add_row(shown(f"  {first}"), *map(shown, others))
    parts: list[RenderableType] = [shown(study.title), "", table, "", *_sentences(study.notes)]
    if facts := study_facts(study):
        parts.append(_facts(facts))
    if study.signatures:
        parts += [_dim("signatures"), *(_dim(f"  {signature}") for signature in study_signatures(study))]
    return Group(*parts)


def _blocks(verdict: Verdict, metrics: Sequence[str], level: float, room: int) -> list[_Block]:
    """The columns of a benchmark: values, intervals, ranks and parts; parts that do not fit are shown separately."""
    found = [verdict.results.get(metric) for metric in metrics]
    values = [a.value if a else None for a in found]
    columns = [_values("value", values)]
    spans = [numbers.span(100 * a.interval[0], 100 * a.interval[1], 1) if a else "" for a in found]
    columns.append(_Column(f"{level:.0%} interval", spans, "dim"))
    if any(a and a.rank is not None for a in found):
        columns.append(_Column("rank", [str(a.rank) if a else "" for a in found]))
    heads = (numbers.plain(verdict.protocol.full_name), statistic_of(verdict))
    blocks = [_Block(heads, columns)]
    if parts := next((a.parts for a in found if a and a.parts), None):
        of_parts = [_values(numbers.plain(part), [a.parts.get(part) if a else None for a in found]) for part in parts]
        together = _Block(heads, [*columns, *of_parts])
        if together.width <= room:
            return [together]
        blocks.append(_Block((heads[0], "its parts, ×100"), of_parts))
    return blocks


def _values(head: str, values: Sequence[float | None]) -> _Column:
    cells = [NOTHING if value is None else numbers.score(100 * value, 1) for value in values]
    known = [value for value in values if value is not None]
    best = numbers.score(100 * max(known), 1) if len(known) > 1 else ""
    return _Column(head, cells, best=best)


def _facts(facts: Mapping[str, str]) -> Table:
    """Labels and texts, side by side."""
    width = max(cell_len(numbers.plain(label)) for label in facts)
    grid = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for label, text in facts.items():
        lines = textwrap.wrap(
            numbers.plain(text), max(_WIDTH - width - 4, 20), break_long_words=False, break_on_hyphens=False
        )
        grid.add_row(_dim(f"  {label}"), _dim("\n".join(lines)))
    return grid


def _sentences(sentences: Iterable[str]) -> list[Text]:
    """Each on lines of its own."""
    wrapped = (textwrap.wrap(numbers.plain(each), _WIDTH, break_on_hyphens=False) for each in sentences)
    return [Text(line, style="dim") for lines in wrapped for line in lines]


def _dim(text: str) -> Text:
    return Text("\n".join(map(numbers.plain, text.split("\n"))), style="dim")


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text
