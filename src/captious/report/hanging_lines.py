"""Lines that fold to the width of a terminal, behind their heads."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

__all__ = ["LEAST_ROOM", "HangingLine"]

LEAST_ROOM = 8  # columns, even on a narrow terminal


@dataclass(frozen=True)
class HangingLine:
    """A line that rich can print. What does not fit into the width goes below, as far to the right as the body begins.

    Args:
        head: what the line begins with, which stays whole.
        body: what is folded.
    """

    head: Text
    body: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        indent = self.head.cell_len
        lines = self.body.wrap(console, max(options.max_width - indent, LEAST_ROOM)) or [Text()]
        for number, line in enumerate(lines):
            yield Text.assemble(self.head if number == 0 else " " * indent, line, no_wrap=True)
