"""Scores and differences by group of images, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from captious.data import same_images
from captious.evaluation import GroupedComparison, GroupedReport
from captious.report import numbers
from captious.report.tables import BEST, direction, examples_table, notes, plain_table, shown, subject

__all__ = ["grouped_comparison_table", "grouped_report_table"]

_AVERAGES = {"macro": "mean of groups (macro)", "micro": "all images (micro)"}


def grouped_report_table(grouped: Sequence[GroupedReport], *, intervals: bool = False) -> Group:
    """Systems side by side, for every output one row per group and one per average; the best of several marked.

    Args:
        grouped: systems that were scored with the same metrics, by the same groups.
        intervals: show 95% bootstrap intervals.
    """
    reports = [each.whole for each in grouped]
    several = len(grouped) > 1
    same = all(same_images(report.ids, reports[0].ids) for report in reports)
    heads = [head for report in reports for head in [report.system, *[""] * (intervals + several)]]
    table = plain_table("", "images", *heads)
    marked = False
    for rows in zip(*(each.scores(intervals=intervals) for each in grouped), strict=True):
        first = rows[0]
        if first.group == next(iter(grouped[0])):
            table.add_row(shown(f"  {numbers.labelled(first.metric, first.lower_is_better)}"))
        scores = [row.score for row in rows]
        top = numbers.best(scores, first.lower_is_better)
        cells = [shown(f"    {first.group or _AVERAGES[first.part]}"), Text(f"{first.n_images:,}" if same else "")]
        for row in rows:
            best = several and same and row.score == top
            marked |= best
            cells.append(Text(numbers.score(row.score), style="bold" if best else ""))
            if row.interval is not None:
                cells.append(Text(numbers.span(*row.interval), style="dim"))
            if several:
                cells.append(Text(BEST if best else "", style="green"))
        table.add_row(*cells)
    legend = ["95% bootstrap over images, within groups."] * intervals + [f"{BEST} best."] * marked
    legend += direction(result.lower_is_better for result in reports[0].values())
    return Group(shown(f"{subject(reports)} · by {grouped[0].by}"), "", table, *notes(reports, legend))


def grouped_comparison_table(grouped: GroupedComparison, *, examples: int = 0) -> Group:
    """Two systems and their differences, for every output one row per group and one per average."""
    whole = grouped.whole
    heads = ("difference", "", "p bootstrap", "corrected", "p randomization", "corrected")
    table = plain_table("", "images", whole.a.system, whole.b.system, *heads)
    for name, rows in groupby(grouped.differences, lambda row: row.metric):
        table.add_row(shown(f"  {numbers.labelled(name, whole[name].lower_is_better)}"))
        for row in rows:
            table.add_row(
                shown(f"    {row.group or _AVERAGES[row.part]}"),
                f"{row.n_images:,}",
                numbers.score(row.score_a),
                numbers.score(row.score_b),
                numbers.signed(row.difference),
                Text(numbers.span(*row.interval), style="dim"),
                numbers.p_value(row.p_bootstrap),
                _corrected(row.corrected_bootstrap),
                numbers.p_value(row.p_randomization),
                _corrected(row.corrected_randomization),
            )
    legend = [
        f"{whole.level:.0%} intervals and p values from {whole.resamples:,} resamples of the images of each group, "
        f"seed {whole.seed}. Corrected: Holm's correction for {len(grouped.group_sizes)} groups, for each metric.",
        *direction(difference.lower_is_better for difference in whole.values()),
    ]
    parts: list[RenderableType] = [shown(f"{subject([whole.a])} · by {grouped.by}"), "", table]
    parts += notes([whole.a, whole.b], legend)
    if examples:
        parts += ["", *examples_table(whole, examples)]
    return Group(*parts)


def _corrected(p: float | None) -> str:
    return "" if p is None else numbers.p_value(p)
