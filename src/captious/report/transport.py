"""Transport plans as text: what each word of the candidate goes to, how much of the caption that is, and how far.

share  distance
.3333    3.9500  dog → puppy
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from captious.metrics.wmd import Transport
from captious.report import numbers

__all__ = ["TransportPicture"]

_BEST = "◀"


class TransportPicture:
    """A transport plan that rich can print.

    Args:
        transport: what to show.
        best: mark it as the nearest of several.
    """

    def __init__(self, transport: Transport, *, best: bool = False) -> None:
        self.transport = transport
        self.best = best

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = self.transport
        sides = (
            ("candidate", found.candidate, found.candidate_left_out),
            ("reference", found.reference, found.reference_left_out),
        )
        for name, words, left_out in sides:
            yield _side(name, [word for word, _ in words], left_out)
        if found.moves:
            rows = [(numbers.score(move.share), numbers.score(move.distance)) for move in found.moves]
            widths = [max(map(len, column)) for column in zip(("share", "distance"), *rows, strict=True)]
            head = "  ".join(title.rjust(width) for title, width in zip(("share", "distance"), widths, strict=True))
            yield Text(f"    {head}", style="dim", no_wrap=True)
            for move, row in zip(found.moves, rows, strict=True):
                cells = "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
                same = move.word == move.reference_word
                way = f"{numbers.plain(move.word)} → {numbers.plain(move.reference_word)}"
                yield Text.assemble(f"    {cells}  ", (way, "green" if same else ""), no_wrap=True)
        distance = "infinite" if found.distance is None else numbers.score(found.distance)
        line = Text(f"  distance {distance} · score {numbers.score(found.score)}", no_wrap=True)
        if self.best:
            line.append(f" {_BEST}", style="green")
        yield line

    @staticmethod
    def legend(transports: Sequence[Transport]) -> Text:
        """What the numbers mean."""
        text = Text("Share: fraction of all words with a vector. The distance is the sum of shares times distances.")
        if len(transports) > 1:
            text.append("  ").append(_BEST, style="green").append(" nearest")
        return text


def _side(name: str, words: list[str], left_out: tuple[str, ...]) -> Text:
    shown = " ".join(map(numbers.plain, words)) or "(no word with a vector)"
    line = Text(f"  {name}  {shown}", no_wrap=True)
    if left_out:
        line.append(f"  ignored: {' '.join(map(numbers.plain, left_out))}", style="dim")
    return line
