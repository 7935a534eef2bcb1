"""The scores of systems side by side, as a page that needs no rich where it is printed as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from captious.data import same_images
from captious.evaluation import Report
from captious.report import numbers
from captious.report.pages import Cell, Columns, Page

__all__ = ["BEST", "direction", "note_lines", "report_table", "subject"]

#: The mark of the best score.
BEST = "◀"


def report_table(reports: Sequence[Report], *, intervals: bool = False) -> Page:
    """Systems side by side, one row per output, the best of several marked.

    Args:
        reports: of systems that were scored with the same metrics.
        intervals: show 95% bootstrap intervals.
    """
    # Scores on different images cannot be compared.
    ranked = len(reports) > 1 and all(same_images(report.ids, reports[0].ids) for report in reports)
    rows: list[list[Cell]] = []
    marked = False
    for name in reports[0]:
        scores = [report[name].score for report in reports]
        lower = reports[0][name].lower_is_better
        top = numbers.best(scores, lower)
        cells = [Cell(f"  {numbers.labelled(name, lower)}")]
        for report, value in zip(reports, scores, strict=True):
            best = ranked and value == top
            marked |= best
            cells.append(Cell(numbers.score(value), style="bold" if best else ""))
            if intervals:
                cells.append(Cell(numbers.span(*report[name].confidence_interval()), style="dim"))
            if len(reports) > 1:
                cells.append(Cell(BEST if best else "", style="green"))
        rows.append(cells)
    rows += _descriptions(reports, intervals)
    heads = ["", *(head for report in reports for head in _heads(report, intervals, len(reports)))]
    legend = ["95% bootstrap over images."] * intervals + [f"{BEST} best."] * marked
    legend += direction(result.lower_is_better for result in reports[0].values())
    return Page([Cell(subject(reports)), Cell(""), Columns(heads, rows), *note_lines(reports, legend)])


#: Rows of descriptions: attribute -> what it is called.
_DESCRIBED = {
    "words": "words per candidate",
    "vocabulary": "vocabulary",
    "bigrams": "distinct bigrams per word",
    "distinct": "distinct candidates",
    "novel": "distinct novel candidates",
}


def _descriptions(reports: Sequence[Report], intervals: bool) -> list[list[Cell]]:
    """What several candidates per image are like, as rows below the scores; no system is better for it."""
    found = [report.description for report in reports]
    blanks = [Cell("")] * (intervals + (len(reports) > 1))
    rows: list[list[Cell]] = []
    for attribute, name in _DESCRIBED.items():
        values = [getattr(each, attribute, None) for each in found]
        if any(value is not None for value in values):
            rows.append([Cell(f"  {name}"), *(cell for value in values for cell in (_number(value), *blanks))])
    return [[Cell("")] * (1 + len(reports) * (1 + len(blanks))), *rows] if rows else []


def _number(value: float | None) -> Cell:
    return Cell("" if value is None else f"{value:,}" if isinstance(value, int) else numbers.score(value))


def _heads(report: Report, intervals: bool, n_systems: int) -> list[str]:
    """Column heads of one system: score, then interval and mark if there are any."""
    return [report.system] + [""] * (intervals + (n_systems > 1))


def subject(reports: Sequence[Report]) -> str:
    """What was scored: images, references, tokens."""
    first = reports[0]
    if not all(same_images(report.ids, first.ids) for report in reports[1:]):
        images = ", ".join(f"{report.system} {report.n_images:,} images" for report in reports)
    else:
        images = f"{first.n_images:,} image{'s' if first.n_images != 1 else ''}"
    tokenizers = dict.fromkeys(each for name in first for each in first[name].statistics.metric.tokens.split(", "))
    each = f"{first.n_references / first.n_images:.1f} references each" if first.n_references else "no references"
    joined = ", concatenated" * all("|references:cat|" in first[name].signature for name in first)
    return f"{images}{_candidates(reports)} · {each}{joined} · tokens: {', '.join(tokenizers)}"


def _candidates(reports: Sequence[Report]) -> str:
    """How many candidates images have, where they may have several."""
    found = {(each.fewest, each.most) for each in (report.description for report in reports) if each is not None}
    if not found:
        return ""
    fewest, most = min(low for low, _ in found), max(high for _, high in found)
    if fewest < most:
        return f" · {fewest:,} to {most:,} candidates each"
    return f" · {most:,} candidate{'s' if most != 1 else ''} each"


def direction(lower_is_better: Iterable[bool | None]) -> list[str]:
    """The legend of the mark that shows the direction, if there is one."""
    return [f"{numbers.LOWER_IS_BETTER} lower is better."] * any(lower_is_better)


def note_lines(reports: Sequence[Report], legend: Sequence[str]) -> list[Cell]:
    """What was left out of each report, then the legend, on lines of their own after an empty one."""
    notes = [
        f"{report.system}: subset; excluded {report.left_out['candidates']:,} candidates without references "
        f"and {report.left_out['images']:,} images without a candidate."
        for report in reports
        if report.left_out
    ]
    if legend:
        notes.append(" ".join(legend))
    return [Cell(""), *(Cell(note, style="dim") for note in notes)] if notes else []
