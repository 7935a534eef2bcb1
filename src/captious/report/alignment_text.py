"""Alignments as text: the words of both sides, and under each matched word its chunk and its module.

candidate  a  dog runs
           1= 1=  1:
reference  a  dog is running fast
           1= 1=  1: 1:
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from captious.metrics.meteor import Alignment
from captious.report import numbers
from captious.report.hanging_lines import LEAST_ROOM

__all__ = ["AlignmentPicture"]

#: Sign and color of each module.
_MODULES = {"exact": ("=", "green"), "stem": ("~", "cyan"), "synonym": ("≈", "yellow"), "paraphrase": (":", "magenta")}
_MARGIN = 13  # "  candidate  "
_BETWEEN = " · "
_BEST = "◀"


class AlignmentPicture:
    """An alignment that rich can print, folded to the width of the terminal.

    Args:
        alignment: what to show.
        best: mark it as the best of several.
    """

    def __init__(self, alignment: Alignment, *, best: bool = False) -> None:
        self.alignment = alignment
        self.best = best

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        alignment = self.alignment
        candidate, reference = _marks(alignment)
        yield from _side("candidate", alignment.candidate, candidate, options.max_width)
        yield from _side("reference", alignment.reference, reference, options.max_width)
        n = len(alignment.matches)
        matches = f"{n} match{'es' if n != 1 else ''} in {alignment.chunks} chunk{'s' if alignment.chunks != 1 else ''}"
        values = {
            "precision": alignment.precision,
            "recall": alignment.recall,
            "fragmentation": alignment.fragmentation,
            "score": alignment.score,
        }
        parts = [matches, *(f"{name} {numbers.score(value)}" for name, value in values.items())]
        if self.best:
            parts[-1] += f" {_BEST}"
        for row in _rows(list(map(cell_len, parts)), options.max_width - 2, len(_BETWEEN)):
            line = Text("  " + _BETWEEN.join(parts[i] for i in row), no_wrap=True)
            line.highlight_words([_BEST], style="green")
            yield line

    @staticmethod
    def legend(alignments: Sequence[Alignment]) -> Text:
        """What the numbers and signs in these alignments mean; empty if there are none."""
        used = {match.module for alignment in alignments for match in alignment.matches}
        parts = [Text("Number: chunk.")] if used else []
        for module, (sign, color) in _MODULES.items():
            if module in used:
                parts.append(Text.assemble((sign, color), f" {module}"))
        if len(alignments) > 1:
            parts.append(Text.assemble((_BEST, "green"), " best"))
        return Text("  ").join(parts)


def _marks(alignment: Alignment) -> tuple[dict[int, Text], dict[int, Text]]:
    """What stands under the matched words of candidate and reference, by position."""
    candidate: dict[int, Text] = {}
    reference: dict[int, Text] = {}
    chunk = 0
    for k, match in enumerate(alignment.matches):
        chunk += k == 0 or not match.continues(alignment.matches[k - 1])
        sign, color = _MODULES[match.module]
        mark = Text(f"{chunk}{sign}", style=color)
        candidate |= dict.fromkeys(range(match.start, match.end), mark)
        reference |= dict.fromkeys(range(match.reference_start, match.reference_end), mark)
    return candidate, reference


def _side(name: str, words: Sequence[str], marks: Mapping[int, Text], width: int) -> list[Text]:
    """The words of one side with what stands under them, in lines of this width."""
    room = max(width - _MARGIN, LEAST_ROOM)
    cells = [cell for i, word in enumerate(words) for cell in _cells(numbers.plain(word), marks.get(i), room)]
    widths = [max(above.cell_len, below.cell_len) for above, below in cells]
    lines: list[Text] = []
    for number, row in enumerate(_rows(widths, room, 1)):
        for head, side in ((f"  {name if number == 0 else '':9}  ", 0), (" " * _MARGIN, 1)):
            line = Text(head, no_wrap=True)
            for i in row:
                line.append_text(cells[i][side]).append(" " * (widths[i] - cells[i][side].cell_len + 1))
            line.rstrip()
            if line.plain:
                lines.append(line)
    return lines or [Text(f"  {name}  (no words)")]


def _cells(word: str, mark: Text | None, room: int) -> list[tuple[Text, Text]]:
    """A word, in pieces where there is no room for it, and what stands under the first."""
    style = "dim" if mark is None else mark.style
    first, *others = _pieces(word, room)
    return [(Text(first, style), mark or Text()), *((Text(piece, style), Text()) for piece in others)]


def _pieces(word: str, room: int) -> list[str]:
    """A word, cut where there is no room for more."""
    pieces, at = [""], 0
    for character in word:
        width = cell_len(character)
        if at + width > room:
            pieces.append("")
            at = 0
        pieces[-1] += character
        at += width
    return pieces


def _rows(widths: Sequence[int], room: int, between: int) -> list[list[int]]:
    """Which items, given their widths and the gap between two of them, share a row, so that every row fits."""
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
