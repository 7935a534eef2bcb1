"""Lines wrapped to the width of a terminal, with hanging indents, and words with marks below them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

_LEAST_ROOM = 8  # columns, even on a narrow terminal


@dataclass(frozen=True)
class HangingLine:
    """A line that rich can print, wrapped with a hanging indent after its head.

    If the head leaves too little room, the whole body goes below.

    Args:
        head: start of the line, which is not wrapped.
        body: text to wrap.
    """

    head: Text
    body: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        indent = self.head.cell_len
        if options.max_width - indent < _LEAST_ROOM:
            yield Text(self.head.plain.rstrip(), no_wrap=True)
            yield from HangingLine(Text("    "), self.body).__rich_console__(console, options)
            return
        lines = self.body.wrap(console, options.max_width - indent) or [Text()]
        for number, line in enumerate(lines):
            yield Text.assemble(self.head if number == 0 else " " * indent, line, no_wrap=True)


def word_lines(head: str, words: Sequence[Text], below: Mapping[int, Text], width: int) -> Iterator[Text]:
    """Return lines of words after a head, with marks below them by position, wrapped to this width."""
    margin = len(head)
    room = max(width - margin, _LEAST_ROOM)
    cells = [cell for i, word in enumerate(words) for cell in _cells(word, below.get(i), room)]
    widths = [max(above.cell_len, under.cell_len) for above, under in cells]
    for number, row in enumerate(rows_of(widths, room, 1)):
        for side in (0, 1):
            line = Text(head if number == side == 0 else " " * margin, no_wrap=True)
            for i in row:
                line.append_text(cells[i][side]).append(" " * (widths[i] - cells[i][side].cell_len + 1))
            line.rstrip()
            if line.plain:
                yield line


def _cells(word: Text, mark: Text | None, room: int) -> list[tuple[Text, Text]]:
    """Return a word, in pieces if it does not fit, with its mark below the first piece."""
    first, *further_pieces = _pieces(word.plain, room)
    further_cells = [(Text(piece, word.style), Text()) for piece in further_pieces]
    return [(Text(first, word.style), mark or Text()), *further_cells]


def _pieces(word: str, room: int) -> list[str]:
    """Split a word that does not fit."""
    pieces, at = [""], 0
    for character in word:
        width = cell_len(character)
        if at + width > room:
            pieces.append("")
            at = 0
        pieces[-1] += character
        at += width
    return pieces


def rows_of(widths: Sequence[int], room: int, between: int) -> list[list[int]]:
    """Assign items to rows that fit, given their widths and the gap between two of them."""
    rows: list[list[int]] = []
    at = 0
    for i, width in enumerate(widths):
        if rows and at + between + width <= room:
            rows[-1].append(i)
            at += between + width
        else:
            rows.append([i])
            at = width
    return rows
