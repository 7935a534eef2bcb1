"""Explanations as text for terminals, files and notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from captious.drawing import ANY_WIDTH
from captious.layouts import (
    LAYOUTS,
    MISSING,
    SIGNS,
    Block,
    Each,
    EntryTable,
    FactLine,
    Folded,
    Graph,
    Items,
    Marks,
    Matrix,
    Note,
    Words,
    explanation_values,
    filled,
    kind_of,
    text_of,
    value_at,
)

# Lines wrapped to the width of a terminal, with hanging indents, and words with marks below them.

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
    first, *further_pieces = chop_cells(word.plain, room) or [""]
    further_cells = [(Text(piece, word.style), Text()) for piece in further_pieces]
    return [(Text(first, word.style), mark or Text()), *further_cells]


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


# Explanations as text: the result of a metric's ``explain``, drawn for terminals according to its layout.
#
# candidate  a  dog runs
#            1= 1=  1:
# reference  a  dog is running fast
#            1= 1=  1: 1:

_STYLES = {name: style for name, (_, _, style) in SIGNS.items()}
_BETWEEN = " · "
_BAR = 12  # columns of a full bar
_CELL = 7  # columns of a score in a matrix
#: Columns of terminals: with bars, with less room between columns, with numbers that are folded.
_ROOM_FOR_BARS, _NARROW, _VERY_NARROW = 72, 48, 32
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


@dataclass(frozen=True)
class _ExplanationText:
    """An explanation that rich can print, wrapped to the width of the terminal."""

    values: Mapping[str, Any]
    blocks: Sequence[Block]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        drawing = _Drawing(options.max_width, has_bars=_ROOM_FOR_BARS <= options.max_width < ANY_WIDTH)
        drawing.draw(self.blocks, {"full": 1.0, "full_is": "", "marked": "[ ]", **self.values})
        yield from drawing.finished()


def explanation_text(explanation: Any) -> RenderableType:
    """Return a printable explanation, or one for each reference.

    Args:
        explanation: the result of a metric's ``explain``: one object, or a list with one for each reference.
    """
    return _ExplanationText(explanation_values(explanation), LAYOUTS[kind_of(explanation)])


@dataclass
class _Drawing:
    """A drawing in progress.

    Args:
        width: columns of the terminal.
        has_bars: whether bars are drawn: on terminals with room for them, not in files and pipes.
        margin: width of the names of words.
        lines: lines except notes, None for a blank line.
        notes: notes to show below.
        used: signs used so far.
    """

    width: int
    has_bars: bool
    margin: int = 0
    lines: list[RenderableType | None] = field(default_factory=list)
    notes: list[Text] = field(default_factory=list)
    signs_used: set[str] = field(default_factory=set)

    def draw(self, blocks: Sequence[Block], values: Mapping[str, Any]) -> None:
        """Draw blocks with these values."""
        for block in blocks:
            match block:
                case Words():
                    self.lines += self._words(block, values)
                case Items():
                    self.lines += self._items(block, values)
                case EntryTable():
                    self.lines += self._table(block, values)
                case Matrix():
                    self.lines += self._matrix(block, values)
                case FactLine():
                    self.lines += self._facts(block, values)
                case Note():
                    self.notes += self._note(block, values)
                case Each():
                    self._entries(block, values)
                case Folded():
                    self.draw(block.blocks, values)
                case Graph():
                    pass

    def finished(self) -> Iterator[RenderableType]:
        """Return the lines, with the notes below them."""
        notes = Text("  ").join(self.notes)
        lines = [*self.lines, *([None, notes] if notes else [])]
        for line, after in zip(lines, [*lines[1:], None], strict=True):
            if line is not None:
                yield line
            elif after is not None:
                yield Text()

    def _entries(self, block: Each, values: Mapping[str, Any]) -> None:
        entries: Sequence[Mapping[str, Any]] = value_at(values, block.of)
        several = len(entries) > 1
        best = {
            max(range(len(entries)), key=lambda i: (value_at(entries[i], path), -i)) for path in block.best if several
        }
        names = [part.name for part in block.blocks if isinstance(part, Words)]
        longest = {"number": len(entries) if several else ""}
        self.margin = max((cell_len(_name(name, longest)) for name in names), default=0)
        for place, entry in enumerate(entries):
            best_sign = f" {SIGNS['best'][0]}" if place in best else ""
            of_entry = {**values, **entry, "number": place + 1 if several else "", "best": best_sign}
            self.signs_used |= {"best"} if best_sign else set()
            self.draw(block.blocks, of_entry)
            if names:
                self.lines.append(None)

    def _words(self, block: Words, values: Mapping[str, Any]) -> Iterator[RenderableType]:
        words, ignored = value_at(values, block.words), value_at(values, block.ignored) if block.ignored else ()
        if words is MISSING:
            return
        name = _name(block.name, values)
        head = f"  {name}{' ' * (self.margin - cell_len(name))}  "
        texts = [Text(text_of(word if isinstance(word, str) else word[0])) for word in words]
        if ignored:
            texts.append(Text(f"{' ' * bool(words)}ignored: {text_of(ignored)}", "dim"))
        below = self._marked(block.marks, values, texts) if block.marks else {}
        if below:
            yield from word_lines(head, texts, below, self.width)
        else:
            yield HangingLine(Text(head), Text(" ").join(texts) if words or ignored else Text("(no words)"))

    def _marked(self, marks: Marks, values: Mapping[str, Any], words: list[Text]) -> dict[int, Text]:
        """Mark words, and return the marks below them, by position."""
        below: dict[int, Text] = {}
        marked: set[int] = set()
        for number, entry in enumerate(value_at(values, marks.of)):
            start = value_at(entry, marks.start)
            places = range(start, value_at(entry, marks.end) if marks.end else start + 1)
            tone = "exact"
            if marks.flags:
                tone = "hallucinated" if value_at(values, marks.flags)[number] else "present"
            elif marks.tone:
                tone = value_at(entry, marks.tone)
            marked.update(places)
            for place in places:
                words[place].style = _STYLES[tone]
                if not marks.label:
                    words[place] = Text(f"[{words[place].plain}]", _STYLES[tone])
            if marks.label:
                self.signs_used.add(tone)
                label = Text(filled(marks.label, {**entry, "tone": tone}) or "", _STYLES[tone])
                below |= dict.fromkeys(places, label)
        if marks.label:
            for place in set(range(len(words))) - marked:
                words[place].style = "dim"
        return below

    def _items(self, block: Items, values: Mapping[str, Any]) -> Iterator[RenderableType]:
        items = [
            item
            for item in value_at(values, block.of)
            if not (block.without and value_at(item, block.without))
            and (not block.having or value_at(item, block.having))
        ]
        if not items and not block.empty:
            return
        text = Text(_BETWEEN, "dim").join([_item(block, item) for item in items[: block.most]])
        if len(items) > block.most:
            text.append(f" and {len(items) - block.most:,} more", "dim")
        yield HangingLine(Text(f"  {_name(block.name, values)}  "), text if items else Text(block.empty))

    def _table(self, block: EntryTable, values: Mapping[str, Any]) -> Iterator[RenderableType]:
        rows = [row for row in value_at(values, block.of) if not block.having or value_at(row, block.having)]
        if not rows:
            yield Text(f"  {block.empty}")
            return
        has_bars = bool(block.bar) and self.has_bars
        grid = Grid(box=None, header_style="dim", padding=(0, 2 if self.width >= _NARROW else 1, 0, 0))
        for place, (head, _) in enumerate(block.columns):
            is_number = place >= block.n_texts
            justify: JustifyMethod = "right" if is_number else "left"
            grid.add_column(head, justify=justify, overflow="fold", no_wrap=is_number and self.width >= _VERY_NARROW)
        if has_bars:
            grid.add_column("", style="cyan")
        whole = value_at(values, block.whole) if block.whole else values["full"]
        for row in rows[: block.most]:
            tone = value_at(row, block.tone) if block.tone else ""
            self.signs_used |= {tone} if tone else set()
            style = "dim" if block.tone and not tone else ""
            cells = []
            for _, cell in block.columns:
                is_toned = tone and (":sign" in cell or ":pairs" in cell)
                cells.append(Text(filled(cell, {**values, **row}) or "", _STYLES[tone] if is_toned else style))
            grid.add_row(*cells, *([_bar(value_at(row, block.bar), whole)] if has_bars else []))
        yield Padding(grid, (0, 0, 0, 2), expand=False)
        if len(rows) > block.most:
            yield Text(f"  and {len(rows) - block.most:,} more", "dim")

    def _matrix(self, block: Matrix, values: Mapping[str, Any]) -> Iterator[RenderableType | None]:
        """Draw a matrix in as many columns as fit; the best of each row and column is green."""
        rows, columns = (
            [_name(block.name, entry) for entry in value_at(values, path)] for path in (block.rows, block.columns)
        )
        matrix: Sequence[Sequence[float]] = value_at(values, block.of)
        if not rows or not columns:
            return
        best = {(i, max(range(len(columns)), key=line.__getitem__)) for i, line in enumerate(matrix)}
        best |= {(max(range(len(rows)), key=lambda i: matrix[i][j]), j) for j in range(len(columns))}
        margin = max(map(len, rows))
        at_once = max((self.width - 2 - margin) // _CELL, 1)
        for start in range(0, len(columns), at_once):
            places = range(start, min(start + at_once, len(columns)))
            yield None
            yield Text(" " * (2 + margin) + "".join(f"{columns[j]:>{_CELL}}" for j in places), "dim", no_wrap=True)
            for i, name in enumerate(rows):
                cells = ((f"{text_of(matrix[i][j], '4'):>{_CELL}}", _STYLES["best"] * ((i, j) in best)) for j in places)
                yield Text.assemble((f"  {name:>{margin}}", "dim"), *cells, no_wrap=True)
        yield None

    def _facts(self, block: FactLine, values: Mapping[str, Any]) -> Iterator[RenderableType]:
        parts = [part for template in block.parts.split(_BETWEEN) if (part := filled(template, values)) is not None]
        for row in rows_of([*map(cell_len, parts)], self.width - 2, len(_BETWEEN)):
            line = Text(_BETWEEN.join(parts[i] for i in row))
            line.highlight_words([SIGNS["best"][0]], style=_STYLES["best"])
            yield HangingLine(Text("  "), line)

    def _note(self, block: Note, values: Mapping[str, Any]) -> Iterator[Text]:
        signs = [sign for sign in block.signs if sign in self.signs_used]
        if (block.signs and not signs) or (block.bars and not self.has_bars):
            return
        if block.text:
            yield Text(filled(block.text, values) or "")
        for name in signs:
            sign, meaning, style = SIGNS[name]
            yield Text.assemble((sign, style), f" {meaning}")


def _name(template: str, values: Mapping[str, Any]) -> str:
    return (filled(template, values) or "").strip()


def _item(block: Items, item: Any) -> Text:
    """Format an item of a list, struck through if it does not match."""
    text = filled(block.text, item) or "" if block.text else text_of(item)
    if block.share is None:
        return Text(text)
    matched, count = (value_at(item, path) for path in block.share)
    if not matched:
        return Text(f"✗ {text}", "red")
    return Text.assemble((text, "green"), f" {matched}/{count}" if count > 1 else "")


def _bar(value: float, whole: float) -> str:
    """Draw a bar; its length is that of a full bar if the value equals the whole."""
    eighths = round(8 * _BAR * min(max(value / whole, 0.0), 1.0)) if whole else 0
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]
