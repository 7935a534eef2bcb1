"""Tables for terminals: columns aligned with spaces, as plain text or, in color, through rich.

Plain text does not need rich, whose import takes longer than scoring a system.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from captious import drawing
from captious.tables import SCREEN, Cell, Column, Row, Table, oriented

if TYPE_CHECKING:
    from rich.text import Text

#: Pieces of a line, each with a style of rich.
Line: TypeAlias = Sequence[tuple[str, str]]

_BEST = "◀"


def plain_text(table: Table) -> str:
    """Return a table as plain text, without spaces at the ends of lines."""
    return "".join("".join(piece for piece, _ in line).rstrip(" ") + "\n" for line in _lines(table))


def rich_text(table: Table) -> Text:
    """Return a table for rich, with styles."""
    from rich.text import Text

    return Text("\n", no_wrap=True).join(Text.assemble(*line) for line in _lines(table))


@dataclass(frozen=True)
class _Strip:
    """A column of text. A column of a table has one for its values, and may have one for intervals and for marks."""

    column: Column
    head: str
    pieces: Sequence[tuple[str, str]]

    @cached_property
    def width(self) -> int:
        return max(_width(piece) for piece in (self.head, *(piece for piece, _ in self.pieces)))

    def padded(self, piece: str) -> str:
        if self.column.align == "left":
            return _left_aligned(piece, self.width)
        return _right_aligned(piece.rstrip(), self.width)


@dataclass(frozen=True)
class _Block:
    """Neighboring strips with lines above their headings."""

    strips: Sequence[_Strip]
    above: Sequence[str] = ()

    @cached_property
    def width(self) -> int:
        return max(sum(strip.width + 2 for strip in self.strips) - 2, *map(_width, self.above), 0)

    @property
    def heads(self) -> list[str]:
        names = "  ".join(strip.padded(strip.head) for strip in self.strips)
        return [_left_aligned(line, self.width) for line in (*self.above, names)]

    def row(self, number: int) -> Iterator[tuple[str, str]]:
        """Return the pieces of a row, and how much it is narrower than the block."""
        across = 0
        for strip in self.strips:
            piece, style = strip.pieces[number]
            yield ("  " if across else "") + strip.padded(piece), style
            across += strip.width + (2 if across else 0)
        yield " " * (self.width - across), ""


def _lines(table: Table) -> Iterator[Line]:
    """Return the lines of a table and of the text above and below it."""
    table = oriented(table, SCREEN)
    if table.title:
        yield from _dim_lines(*table.title.split("\n"), "", style="")
    yield from _body(table)
    notes = [*table.notes, *filter(None, [table.legend])]
    if table.rows and (notes or table.fold):
        yield from _dim_lines("")
    yield from _sentences(notes, table.fold)
    for heading, facts in table.facts.items():
        yield from _dim_lines(heading) if heading else ()
        yield from _listed(facts, table.fold or drawing.ANY_WIDTH)
    if table.signatures:
        yield from _dim_lines("signatures", *(f"  {signature}" for signature in table.signatures))
    if table.explanations:
        yield from _dim_lines("")
        yield from _sentences(table.explanations, table.fold)
    if table.below is not None:
        yield from _dim_lines("", table.below.title, style="")
        yield from _body(oriented(table.below, SCREEN))
    for following in table.following:
        yield from _dim_lines("")
        yield from _lines(following)


def _body(table: Table) -> Iterator[Line]:
    """Return the rows below their headings; blocks of columns that do not fit are stacked."""
    rows = _rows(table)
    has_labels = any(row.label for row in table.rows)
    labels = [drawing.single_line(row.label) if has_labels else "" for row in rows]
    margin = max(map(_width, labels), default=0)
    strips = [
        strip
        for place, column in enumerate(table.columns)
        for strip in _strips(column, [row.cells[place] for row in rows], indent="" if has_labels or place else "  ")
    ]
    gap = " " * _gap(table)
    described = len(rows) - (len(table.description) + 1 if table.description else 0)
    for number, blocks in enumerate(_folded(table, strips, margin)):
        if number:
            yield from _dim_lines("")
        for heads in zip(*(block.heads for block in blocks), strict=True):
            line = gap.join([" " * margin, *heads] if has_labels else heads)
            if line.strip():
                yield [(line, "")]
        for place, label in enumerate(labels):
            if place >= described and not any(_says_anything(block, described, len(rows)) for block in blocks):
                break  # descriptions of other columns
            pieces = [(_left_aligned(label, margin), "")]
            for block in blocks:
                pieces += [(gap if has_labels else "", ""), *block.row(place)]
            yield pieces


def _says_anything(block: _Block, start: int, stop: int) -> bool:
    """Return whether a block has anything to show in some rows."""
    return any(piece.strip() for place in range(start, stop) for piece, _ in block.row(place))


def _rows(table: Table) -> list[Row]:
    """Return all rows with their labels indented, and section headings as rows of their own."""
    blank = [None] * len(table.columns)
    rows: list[Row] = []
    for section, members in groupby(table.rows, lambda row: row.section):
        if section:
            rows.append(Row(f"  {section}", blank))
        indent = "    " if section else "  "
        rows += [Row(f"{indent}{row.label}" if row.label else "", row.cells) for row in members]
    if table.description:
        rows += [Row("", blank), *(Row(f"  {row.label}", row.cells) for row in table.description)]
    return rows


def _strips(column: Column, cells: Sequence[Cell | None], *, indent: str) -> Iterator[_Strip]:
    values = []
    for cell in cells:
        value = drawing.single_line(drawing.format_cell(cell, column))
        style = "bold" if cell and cell.best else "dim" if cell and isinstance(cell.value, tuple) else ""
        values.append((indent + value, style))
    yield _Strip(column, indent + drawing.single_line(column.head), values)
    spans = [" – ".join(drawing.format_cell_interval(cell, column)) if cell else "" for cell in cells]
    if any(spans):
        yield _Strip(column, "", [(span, "dim") for span in spans])
    if any(cell.marks for cell in cells if cell):
        marks = replace(column, align="left")
        yield _Strip(marks, "", [(cell.marks if cell else "", "green") for cell in cells])
    if column.marked:
        yield _Strip(column, "", [(_BEST if cell and cell.best else "", "green") for cell in cells])


def _folded(table: Table, strips: Sequence[_Strip], margin: int) -> Iterator[list[_Block]]:
    """Return blocks of columns that fit side by side, given the width of the labels."""
    gap = _gap(table)
    most = (table.fold or drawing.ANY_WIDTH) - margin - gap
    blocks: list[_Block] = []
    room = most
    for group, members in groupby(strips, lambda strip: strip.column.group):
        for block in _blocks(table, group, [*members], most):
            if blocks and block.width > room:
                yield blocks
                blocks, room = [], most
            blocks.append(block)
            room -= block.width + gap
    yield blocks


def _blocks(table: Table, group: str, strips: Sequence[_Strip], room: int) -> list[_Block]:
    """Return a group of columns; in two blocks if it does not fit and some columns can stand apart."""
    if not group:
        return [_Block(strips)]
    name = drawing.single_line(group)
    together = _Block(strips, (name, table.group_notes[group]))
    movable = [strip for strip in strips if strip.column.apart]
    if together.width <= room or not movable:
        return [together]
    fixed = [strip for strip in strips if not strip.column.apart]
    return [_Block(fixed, together.above), _Block(movable, (name, movable[0].column.apart))]


def _gap(table: Table) -> int:
    """Return the space between blocks."""
    return 3 if table.group_notes else 2


def _dim_lines(*sentences: str, style: str = "dim") -> Iterator[Line]:
    yield from ([(drawing.single_line(sentence), style)] for sentence in sentences)


def _sentences(sentences: Iterable[str], width: int | None) -> Iterator[Line]:
    """Wrap sentences, each on a line of its own."""
    for sentence in map(drawing.single_line, sentences):
        yield from _dim_lines(*(textwrap.wrap(sentence, width, break_on_hyphens=False) if width else [sentence]))


def _listed(facts: Mapping[str, str], width: int) -> Iterator[Line]:
    """Return labels and texts, side by side."""
    margin = max(_width(drawing.single_line(label)) for label in facts)
    room = max(width - margin - 4, 20)
    for label, fact in facts.items():
        lines = textwrap.wrap(drawing.single_line(fact), room, break_long_words=False, break_on_hyphens=False)
        for number, line in enumerate(lines or [""]):
            yield from _dim_lines(f"  {_left_aligned('' if number else drawing.single_line(label), margin)}  {line}")


def _left_aligned(piece: str, width: int) -> str:
    return piece + " " * (width - _width(piece))


def _right_aligned(piece: str, width: int) -> str:
    return " " * (width - _width(piece)) + piece


def _width(piece: str) -> int:
    """Return the terminal columns that a text takes."""
    if piece.isascii():
        return len(piece)
    from rich.cells import cell_len

    return cell_len(piece)
