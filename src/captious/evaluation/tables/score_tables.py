"""Reports as tables: systems side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from captious.data import same_images
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES
from captious.phrases import counted
from captious.random_seed import DEFAULT_SEED
from captious.results.table import LOWER_IS_BETTER, Cell, Column, Form, Row, Table, best, labeled
from captious.version import __version__

if TYPE_CHECKING:
    from captious.evaluation.description import Description
    from captious.evaluation.score_report import Report
    from captious.results.pictures import Picture

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
    """Return a table of systems side by side, one row per output, with the best of several marked.

    Args:
        reports: systems that were scored with the same metrics. Scores on different images are not ranked.
        intervals: show 95% bootstrap intervals.
        resamples, seed: number of resamples and random seed of the intervals.
    """
    sampling: dict[str, Any] = {"resamples": resamples, "seed": seed}
    spans = [
        {name: result.confidence_interval(**sampling) if intervals else None for name, result in report.items()}
        for report in reports
    ]
    rows = []
    for name, first in reports[0].items():
        scores = [(report[name].score, span[name]) for report, span in zip(reports, spans, strict=True)]
        cells = score_cells(scores, first.lower_is_better, ranked=have_same_images(reports))
        rows.append(Row(labeled(name, first.lower_is_better), cells, signature=first.signature))
    records = [
        score_record(
            {"system": report.system, "n_images": report.n_images, "metric": name},
            result.score,
            span[name],
            lower_is_better=result.lower_is_better,
            signature=result.signature,
        )
        for report, span in zip(reports, spans, strict=True)
        for name, result in report.items()
    ]
    documents = [report.to_dict(intervals=intervals, **sampling) for report in reports]
    over = f"95% bootstrap over images, {resamples:,} resamples, seed {seed}." if intervals else ""
    table = side_by_side(reports, rows, records, documents, over)
    return replace(table, description=_descriptions([report.description for report in reports]))


def side_by_side(
    reports: Sequence[Report],
    rows: Sequence[Row],
    records: Sequence[dict[str, object]],
    documents: Sequence[dict[str, Any]],
    sampling: str,
    about_groups: Sequence[str] = (),
) -> Table:
    """Return a table with a column for each system.

    Args:
        reports: the systems.
        rows, records, documents: the table's; one document for each system.
        sampling: a sentence about the sampling of intervals; empty without intervals.
        about_groups: lines about groups of images, for comments in papers.
    """
    several = len(reports) > 1
    columns = [Column(report.system, marked=several) for report in reports]
    pictures: Mapping[str, Picture] = {}
    if sampling:  # pictures are of intervals
        from captious.evaluation.tables.result_pictures import score_pictures

        pictures = score_pictures(columns, rows)
    marked = any(cell is not None and cell.best for row in rows for cell in row.cells)
    legend = [*[sampling] * bool(sampling), *[_BEST] * marked, *lower_is_better_note(rows)]
    return Table(
        columns=columns,
        rows=rows,
        records=records,
        document={"version": __version__, "systems": [_strip_version(document) for document in documents]},
        title=subject(reports),
        caption="" if several else images_text(reports[0]),
        notes=[*exclusions(reports), *([" ".join(legend)] if legend else [])],
        comments=[
            f"captious {__version__}",
            *map(images_text, reports),
            *[sampling] * bool(sampling),
            *about_groups,
            *signature_lines(reports[0]),
        ],
        across=True,
        pictures=pictures,
    )


def _strip_version(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a document of several systems that is about one."""
    return {name: value for name, value in document.items() if name != "version"}


def score_cells(
    scores: Sequence[tuple[float, tuple[float, float] | None]], lower_is_better: bool | None, *, ranked: bool
) -> list[Cell]:
    """Return the cells of scores with their intervals, one for each system; the best is marked if they are ranked."""
    top = best([score for score, _ in scores], lower_is_better) if ranked else None
    form: Form | None = None if lower_is_better is not None else "number"  # lengths are never in hundredths
    return [Cell(score, interval, best=score == top, form=form) for score, interval in scores]


def score_record(
    about: Mapping[str, object],
    score: float,
    interval: tuple[float, float] | None,
    *,
    lower_is_better: bool | None,
    signature: str,
) -> dict[str, object]:
    """Return a score as a flat record: what it is about, its value, the bounds of its interval, its signature."""
    low, high = interval or (None, None)
    values = {"score": score, "ci95_low": low, "ci95_high": high}
    return {**about, **values, "lower_is_better": lower_is_better, "signature": signature}


def subject(reports: Sequence[Report]) -> str:
    """Return a line about the data: images, references, tokens."""
    first = reports[0]
    if have_same_images(reports):
        images = counted(first.n_images, "image")
    else:
        images = ", ".join(f"{report.system} {counted(report.n_images, 'image')}" for report in reports)
    tokenizers = dict.fromkeys(
        tokenizer for result in first.values() for tokenizer in result.statistics.metric.tokens.split(", ")
    )
    references = f"{first.n_references / first.n_images:.1f} references each" if first.n_references else "no references"
    joined = ", concatenated" * all("|references:cat-" in result.signature for result in first.values())
    candidates = _candidates([report.description for report in reports])
    return f"{images}{candidates} · {references}{joined} · tokens: {', '.join(tokenizers)}"


def images_text(report: Report) -> str:
    """Return the name of a system with the size of the data: "mine: 5,000 images, 25,010 references"."""
    return f"{report.system}: {counted(report.n_images, 'image')}, {counted(report.n_references, 'reference')}"


def signature_lines(report: Report) -> list[str]:
    """Return the signatures of a report under a heading, for comments in papers."""
    return ["signatures", *(f"  {result.signature}" for result in report.values())]


def exclusions(reports: Iterable[Report]) -> list[str]:
    """Return the numbers of captions that ``subset`` excluded, one sentence per system."""
    return [
        f"{report.system}: subset; excluded {counted(report.left_out['candidates'], 'candidate')} without references "
        f"and {counted(report.left_out['images'], 'image')} without a candidate."
        for report in reports
        if report.left_out
    ]


def lower_is_better_note(rows: Iterable[Row]) -> list[str]:
    """Return the meaning of the arrow in labels, if there is one."""
    marked = any(LOWER_IS_BETTER in (row.section or row.label)[-1:] for row in rows)
    return [f"{LOWER_IS_BETTER} lower is better."] * marked


def have_same_images(reports: Sequence[Report]) -> bool:
    """Return whether systems were scored on the same images, so that they can be ranked."""
    return all(same_images(report.ids, reports[0].ids) for report in reports[1:])


def _descriptions(descriptions: Sequence[Description | None]) -> list[Row]:
    """Return rows that describe several candidates per image."""
    rows = []
    for attribute, label in _DESCRIBED.items():
        values = [getattr(description, attribute, None) for description in descriptions]
        if any(value is not None for value in values):
            rows.append(Row(label, [None if value is None else Cell(value, form="number") for value in values]))
    return rows


def _candidates(descriptions: Sequence[Description | None]) -> str:
    """Return the numbers of candidates per image, if there may be several."""
    several = [description for description in descriptions if description is not None]
    if not several:
        return ""
    fewest = min(description.fewest for description in several)
    most = max(description.most for description in several)
    if fewest < most:
        return f" · {fewest:,} to {most:,} candidates each"
    return f" · {counted(most, 'candidate')} each"
