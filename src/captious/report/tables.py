"""Results as tables for the terminal: several systems side by side, two systems compared."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from captious.evaluation import Comparison, Report
from captious.report import numbers
from captious.report.pages import Page
from captious.report.score_table import BEST, direction, note_lines, report_table, subject

__all__ = [
    "BEST",
    "as_text",
    "comparison_table",
    "direction",
    "examples_table",
    "notes",
    "plain_table",
    "report_table",
    "shown",
    "subject",
]

_ANY_WIDTH = 10_000


def comparison_table(comparison: Comparison, *, examples: int = 0) -> Group:
    """Two systems, their differences with intervals and tests; then the images on which they differ most."""
    a, b = comparison.a.system, comparison.b.system
    table = plain_table("", a, b, "difference", "", "effect size", "p bootstrap", "p randomization")
    for name, d in comparison.items():
        table.add_row(
            shown(f"  {numbers.labelled(name, d.lower_is_better)}"),
            numbers.score(d.score_a),
            numbers.score(d.score_b),
            numbers.signed(d.difference),
            Text(numbers.span(*d.interval), style="dim"),
            numbers.signed(d.effect_size, 3),
            numbers.p_value(d.p_bootstrap),
            numbers.p_value(d.p_randomization),
        )
    note = (
        f"{comparison.level:.0%} intervals and p values from {comparison.resamples:,} resamples of images, "
        f"seed {comparison.seed}. Effect size: Cohen's d of caption scores."
    )
    parts: list[RenderableType] = [shown(subject([comparison.a])), "", table]
    directions = direction(d.lower_is_better for d in comparison.values())
    parts += notes([comparison.a, comparison.b], [note, *directions])
    if examples:
        parts += ["", *examples_table(comparison, examples)]
    return Group(*parts)


def examples_table(comparison: Comparison, n: int) -> list[Text | Table]:
    """The images on which two systems differ most, under a line that says so."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for _ in range(3):
        table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    for example in comparison.examples(n):
        rows = (
            (f"  {example.id}", comparison.a.system, example.candidate_a, example.score_a),
            ("", comparison.b.system, example.candidate_b, example.score_b),
        )
        for image, system, candidate, value in rows:
            table.add_row(shown(image), shown(system), shown(candidate), numbers.score(value, 2))
    return [Text(f"largest differences in {comparison.examples_by}"), table]


def plain_table(*heads: str) -> Table:
    """A table without lines: the first column flush left, the others flush right, cells on one line."""
    table = Table(box=None, header_style="", padding=(0, 2, 0, 0))
    for number, head in enumerate(heads):
        table.add_column(shown(head), justify="left" if number == 0 else "right", no_wrap=True)
    return table


def notes(reports: Sequence[Report], legend: Sequence[str]) -> list[str | Text]:
    """``note_lines``, for rich."""
    return ["" if not cell.text else cell.__rich__() for cell in note_lines(reports, legend)]


def shown(text: str) -> Text:
    """Text from outside as a cell: no markup, no control sequences, one line."""
    return Text(numbers.plain(text))


def as_text(renderable: RenderableType, *, color: bool = False, width: int = _ANY_WIDTH) -> str:
    """A table as text, without blanks at the ends of lines.

    Args:
        renderable: the table.
        color: with the escape sequences of a terminal.
        width: columns that lines are folded to; by default a table is as wide as it needs to be.
    """
    if isinstance(renderable, Page) and not color and width == _ANY_WIDTH:
        return renderable.text
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=color, color_system="standard" if color else None).print(renderable)
    return "".join(f"{_without_end_blanks(line)}\n" for line in out.getvalue().splitlines())


def _without_end_blanks(line: str) -> str:
    """The line without trailing blanks, even those between escape sequences, which are kept."""
    return re.sub(r"(?: |\x1b\[[0-9;]*m)+$", lambda end: end[0].replace(" ", ""), line)
