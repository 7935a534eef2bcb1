"""Data sets published as lines of text, with one row of captions per line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from captious.data.reading.source import Refuse, RowProblem, Source
from captious.errors import CaptionFileError


@dataclass(frozen=True)
class LinePattern:
    """A pattern of lines that are rows.

    Args:
        example: a line, for messages.
        first: matches the first line of such a file, to recognize it.
        row: matches a line; its groups are the cells, and their names the column names.
        has_header: whether the first line is not a row.
    """

    example: str
    first: re.Pattern[str]
    row: re.Pattern[str]
    has_header: bool = False

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [*self.row.groupindex]

    def rows(self, lines: Iterable[tuple[int, str]], source: Source, refuse: Refuse) -> Iterator[tuple[int, list[str]]]:
        """Return the rows of numbered lines, without blank lines and comments."""
        for number, line in lines:
            match = self.row.match(line)
            if match is not None:
                yield number, [*match.groups()]
            elif line.strip() and not line.startswith("#"):
                error = CaptionFileError(
                    f"this line is not such as {self.example!r}",
                    where=f"{source.name}: line {number:,}",
                    help="correct or remove the line",
                )
                refuse(RowProblem("cells", number, error))


_TOKEN = re.compile(r"(?P<image>[^\t#]+)#(?P<comment_number>\d+)\t(?P<caption>[^\r\n]*)")
# One line of the published file lacks its second bar.
_BARS = re.compile(r"(?P<image>[^|\r\n]+)\|\s*(?P<comment_number>\d+)\s*\|?\s*(?P<caption>[^\r\n]*)")
_VIDEO = re.compile(r"(?P<video>[\w-]+_\d+_\d+) (?P<description>[^\r\n]*)")

LINE_PATTERNS = (
    LinePattern("1000092795.jpg#0\tTwo young men", _TOKEN, _TOKEN),
    LinePattern(
        "1000092795.jpg| 0| Two young men", re.compile(r"image_name\|\s*comment_number\|\s*comment\s*$"), _BARS, True
    ),
    LinePattern("mv89psg6zh4_33_46 a bird in a sink", _VIDEO, _VIDEO),
)


def line_pattern(first: str) -> LinePattern | None:
    """Return the pattern of a file with this first line; None if its lines are not rows."""
    return next((pattern for pattern in LINE_PATTERNS if pattern.first.match(first)), None)
