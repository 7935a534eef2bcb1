"""Results as tables for the terminal: several systems side by side, two systems compared."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from captious.data import same_images
from captious.evaluation import Comparison, Report
from captious.report import numbers

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

#: The mark of the best score.
BEST = "◀"
_ANY_WIDTH = 10_000


def report_table(reports: Sequence[Report], *, intervals: bool = False) -> Group:
    """Systems side by side, one row per output, the best of several marked.

    Args:
        reports: of systems that were scored with the same metrics.
        intervals: show 95% bootstrap intervals.
    """
    # Scores on different images cannot be compared.
    ranked = len(reports) > 1 and all(same_images(report.ids, reports[0].ids) for report in reports)
    table = plain_table("", *(cell for report in reports for cell in _heads(report, intervals, len(reports))))
    marked = False
    for name in reports[0]:
        scores = [report[name].score for report in reports]
        lower = reports[0][name].lower_is_better
        top = min(scores) if lower else max(scores)
        cells = [shown(f"  {numbers.labelled(name, lower)}")]
        for report, value in zip(reports, scores, strict=True):
            best = ranked and value == top and min(scores) < max(scores)
            marked |= best
            cells.append(Text(numbers.score(value), style="bold" if best else ""))
            if intervals:
                cells.append(Text(numbers.span(*report[name].confidence_interval()), style="dim"))
            if len(reports) > 1:
                cells.append(Text(BEST if best else "", style="green"))
        table.add_row(*cells)
    legend = ["95% bootstrap over images."] * intervals + [f"{BEST} best."] * marked
    legend += direction(result.lower_is_better for result in reports[0].values())
    return Group(shown(subject(reports)), "", table, *notes(reports, legend))


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


def direction(lower_is_better: Iterable[bool]) -> list[str]:
    """The legend of the mark that shows the direction, if there is one."""
    return [f"{numbers.LOWER_IS_BETTER} lower is better."] * any(lower_is_better)


def _heads(report: Report, intervals: bool, n_systems: int) -> list[str]:
    """Column heads of one system: score, then interval and mark if there are any."""
    return [report.system] + [""] * (intervals + (n_systems > 1))


def subject(reports: Sequence[Report]) -> str:
    """What was scored: images, references, tokens."""
    first = reports[0]
    if not all(same_images(report.ids, first.ids) for report in reports):
        images = ", ".join(f"{report.system} {report.n_images:,} images" for report in reports)
    else:
        images = f"{first.n_images:,} image{'s' if first.n_images != 1 else ''}"
    tokenizers = dict.fromkeys(each for name in first for each in first[name].statistics.metric.tokens.split(", "))
    each = first.n_references / first.n_images
    joined = ", concatenated" * all("|references:cat|" in first[name].signature for name in first)
    return f"{images} · {each:.1f} references each{joined} · tokens: {', '.join(tokenizers)}"


def notes(reports: Sequence[Report], legend: Sequence[str]) -> list[str | Text]:
    """What was left out of each report, then the legend, on lines of their own after an empty one."""
    notes = [
        f"{report.system}: subset; excluded {report.left_out['candidates']:,} candidates without references "
        f"and {report.left_out['images']:,} images without a candidate."
        for report in reports
        if report.left_out
    ]
    if legend:
        notes.append(" ".join(legend))
    return ["", *(Text(numbers.plain(note), style="dim") for note in notes)] if notes else []


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
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=color, color_system="standard" if color else None).print(renderable)
    return "".join(f"{_without_end_blanks(line)}\n" for line in out.getvalue().splitlines())


def _without_end_blanks(line: str) -> str:
    """The line without trailing blanks, even those between escape sequences, which are kept."""
    return re.sub(r"(?: |\x1b\[[0-9;]*m)+$", lambda end: end[0].replace(" ", ""), line)
