"""Reports as tables: systems side by side, over all images and by group of images."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from captious.data import same_images
from captious.evaluation.resampling import DEFAULT_RESAMPLES, DEFAULT_SEED
from captious.table import LOWER_IS_BETTER, PAGE, SCREEN, Cell, Column, Row, Table, best, labelled
from captious.version import __version__

if TYPE_CHECKING:
    from captious.evaluation.description import Description
    from captious.evaluation.groups import GroupedReport, GroupScore
    from captious.evaluation.report import Report, Result

__all__ = [
    "AVERAGES",
    "exclusions",
    "grouped_score_table",
    "images_text",
    "lower_is_better_note",
    "score_table",
    "signature_lines",
    "subject",
]

#: Averages over groups, as tables and as papers call them.
AVERAGES = {"macro": ("mean of groups (macro)", "macro"), "micro": ("all images (micro)", "all")}

_DESCRIBED = {
    "words": "words per candidate",
    "vocabulary": "vocabulary",
    "bigrams": "distinct bigrams per word",
    "distinct": "distinct candidates",
    "novel": "distinct novel candidates",
}
_BEST = "◀ best."


def score_table(
    reports: Sequence[Report],
    *,
    intervals: bool = False,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Table:
    """Systems side by side, one row per output, the best of several marked.

    Args:
        reports: systems that were scored with the same metrics. Scores on different images are not ranked.
        intervals: with 95% bootstrap intervals.
        resamples, seed: of the intervals.
    """
    sampling: dict[str, Any] = {"resamples": resamples, "seed": seed}
    several = len(reports) > 1
    ranked = several and _on_same_images(reports)
    rows, records = [], []
    for name, first in reports[0].items():
        results = [report[name] for report in reports]
        spans = [result.confidence_interval(**sampling) if intervals else None for result in results]
        top = best([result.score for result in results], first.lower_is_better) if ranked else None
        cells = [
            Cell(result.score, span, best=result.score == top) for result, span in zip(results, spans, strict=True)
        ]
        rows.append(Row(labelled(name, first.lower_is_better), cells, signature=first.signature))
    for report in reports:
        for name, result in report.items():
            span = result.confidence_interval(**sampling) if intervals else None
            head = {"system": report.system, "n_images": report.n_images, "metric": name}
            records.append({**head, **_plain(result, span)})
    over = "bootstrap over images" if intervals else ""
    return Table(
        columns=[Column(report.system, marked=several) for report in reports],
        rows=rows,
        records=records,
        document={
            "version": __version__,
            "systems": [report.to_dict(intervals=intervals, **sampling) for report in reports],
        },
        title=subject(reports),
        caption=images_text(reports[0]) if not several else "",
        description=_descriptions([report.description for report in reports]),
        notes=_notes(reports, rows, _sampling_note(over, resamples, seed)),
        comments=[
            f"captious {__version__}",
            *map(images_text, reports),
            *_sampling_note(over, resamples, seed),
            *signature_lines(reports[0]),
        ],
        across_in_papers=True,
    )


def grouped_score_table(grouped: Sequence[GroupedReport], *, intervals: bool = False) -> Table:
    """Systems side by side, for every output one row per group and one per average; the best of several marked.

    Args:
        grouped: systems that were scored with the same metrics, by the same groups.
        intervals: with 95% bootstrap intervals, those of group i with the seed ``DEFAULT_SEED + i``.
    """
    reports = [system.whole for system in grouped]
    several = len(grouped) > 1
    same = _on_same_images(reports)
    by_system = [system.scores(intervals=intervals) for system in grouped]
    rows = []
    for scores in zip(*by_system, strict=True):
        first = scores[0]
        top = best([score.score for score in scores], first.lower_is_better) if same else None
        label, in_papers = AVERAGES.get(first.part, (first.group, first.group))
        cells = [Cell(score.score, score.interval, best=several and score.score == top) for score in scores]
        rows.append(
            Row(
                label,
                [Cell(first.n_images) if same else None, *cells],
                section=labelled(first.metric, first.lower_is_better),
                in_papers=in_papers,
                signature=first.signature,
            )
        )
    records = []
    for system, of_system in zip(grouped, by_system, strict=True):
        for score in of_system:
            head = {"part": score.part, "group": score.group, "n_images": score.n_images, "metric": score.metric}
            records.append({"system": system.whole.system, **head, **_plain(score, score.interval)})
    by = grouped[0].by
    over = "bootstrap over images, within groups" if intervals else ""
    sampling = _sampling_note(over, DEFAULT_RESAMPLES, DEFAULT_SEED)
    return Table(
        columns=[
            Column("images", "count", media=(SCREEN, PAGE)),
            *(Column(report.system, marked=several) for report in reports),
        ],
        rows=rows,
        records=records,
        document={"version": __version__, "systems": [system.to_dict(intervals=intervals) for system in grouped]},
        title=f"{subject(reports)} · by {by}",
        caption=f"{reports[0].system}: {reports[0].n_images:,} images by {by}" if not several else "",
        notes=_notes(reports, rows, sampling),
        comments=[
            f"captious {__version__}",
            *map(images_text, reports),
            *sampling,
            f"by {by}; macro: mean over groups",
            *(f"  {name}: {report.n_images:,} images" for name, report in grouped[0].items()),
            *signature_lines(reports[0]),
        ],
        across_in_papers=True,
    )


def subject(reports: Sequence[Report]) -> str:
    """What was scored: images, references, tokens."""
    first = reports[0]
    if _on_same_images(reports):
        images = f"{first.n_images:,} image{'s' if first.n_images != 1 else ''}"
    else:
        images = ", ".join(f"{report.system} {report.n_images:,} images" for report in reports)
    tokenizers = dict.fromkeys(
        tokenizer for result in first.values() for tokenizer in result.statistics.metric.tokens.split(", ")
    )
    references = f"{first.n_references / first.n_images:.1f} references each" if first.n_references else "no references"
    joined = ", concatenated" * all("|references:cat|" in result.signature for result in first.values())
    candidates = _candidates([report.description for report in reports])
    return f"{images}{candidates} · {references}{joined} · tokens: {', '.join(tokenizers)}"


def images_text(report: Report) -> str:
    """The name of a system with the size of the data: "mine: 5,000 images, 25,010 references"."""
    return f"{report.system}: {report.n_images:,} images, {report.n_references:,} references"


def signature_lines(report: Report) -> list[str]:
    """The signatures of a report under a heading, for the comments of papers."""
    return ["signatures", *(f"  {result.signature}" for result in report.values())]


def exclusions(reports: Iterable[Report]) -> list[str]:
    """What ``subset`` excluded, one sentence for each system."""
    return [
        f"{report.system}: subset; excluded {report.left_out['candidates']:,} candidates without references "
        f"and {report.left_out['images']:,} images without a candidate."
        for report in reports
        if report.left_out
    ]


def lower_is_better_note(rows: Iterable[Row]) -> list[str]:
    """What the arrow in labels means, if there is one."""
    marked = any(LOWER_IS_BETTER in (row.section or row.label)[-1:] for row in rows)
    return [f"{LOWER_IS_BETTER} lower is better."] * marked


def _on_same_images(reports: Sequence[Report]) -> bool:
    return all(same_images(report.ids, reports[0].ids) for report in reports[1:])


def _plain(result: Result | GroupScore, interval: tuple[float, float] | None) -> dict[str, object]:
    """A score in a record."""
    low, high = interval or (None, None)
    direction = {"lower_is_better": result.lower_is_better, "signature": result.signature}
    return {"score": result.score, "ci95_low": low, "ci95_high": high, **direction}


def _sampling_note(over: str, resamples: int, seed: int) -> list[str]:
    return [f"95% {over}, {resamples:,} resamples, seed {seed}."] if over else []


def _notes(reports: Sequence[Report], rows: Sequence[Row], sampling: Sequence[str]) -> list[str]:
    """What was excluded, then the legend on one line."""
    marked = any(cell is not None and cell.best for row in rows for cell in row.cells)
    legend = [*sampling, *[_BEST] * marked, *lower_is_better_note(rows)]
    return [*exclusions(reports), *([" ".join(legend)] if legend else [])]


def _descriptions(descriptions: Sequence[Description | None]) -> list[Row]:
    """What several candidates per image are like."""
    rows = []
    for attribute, label in _DESCRIBED.items():
        values = [getattr(description, attribute, None) for description in descriptions]
        if any(value is not None for value in values):
            rows.append(Row(label, [None if value is None else Cell(value) for value in values]))
    return rows


def _candidates(descriptions: Sequence[Description | None]) -> str:
    """How many candidates images have, where they may have several."""
    several = [description for description in descriptions if description is not None]
    if not several:
        return ""
    fewest = min(description.fewest for description in several)
    most = max(description.most for description in several)
    if fewest < most:
        return f" · {fewest:,} to {most:,} candidates each"
    return f" · {most:,} candidate{'s' if most != 1 else ''} each"
