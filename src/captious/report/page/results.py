"""The pages of judgments and studies: their tables, their pictures as charts, and all that the numbers depend on."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from captious.judgment.study import Clouds, Curves, Dots, Matrix
from captious.report import html, numbers
from captious.report.page.document import document, text
from captious.report.provenance import statistic_of

if TYPE_CHECKING:
    from captious.judgment import Judgment, Study, Verdict

__all__ = ["judgment_page", "study_page"]


def judgment_page(judgment: Judgment, title: str = "") -> str:
    """Metrics by benchmark: the table, and a chart for each benchmark."""
    title = title or "Agreement of metrics with human judgments"
    figures = [_verdict(name, verdict, judgment.level) for name, verdict in judgment.items()]
    return _page(title, judgment.warnings, html.judgment_table(judgment), html.judgment_details(judgment), figures)


def study_page(study: Study, title: str = "") -> str:
    """The records of a study, and a chart for each of its pictures."""
    figures = [_figure(picture) for picture in study.pictures.values()]
    return _page(title or study.title, study.warnings, html.study_table(study), html.study_details(study), figures)


def _page(title: str, warnings: Any, table: str, details: str, figures: list[dict[str, Any]]) -> str:
    said = "".join(f"<p>{text(sentence)}</p>" for sentence in warnings)
    parts = [
        f"<h1>{text(title)}</h1>",
        f'<div class="note" role="note">{said}</div>' if said else "",
        "<section>"
        f'<div class="scroll" role="region" aria-label="Results" tabindex="0">{table}</div>{details}</section>',
        '<section id="figures"><p class="needs-script">Charts need JavaScript.</p></section>' if figures else "",
    ]
    return document(title, "\n".join(filter(None, parts)), {"kind": "figures", "figures": figures})


def _verdict(name: str, verdict: Verdict, level: float) -> dict[str, Any]:
    """Metrics of a benchmark, the best on top; those of one rank share a colour."""
    found = sorted(verdict.results.values(), key=lambda a: (a.rank or 0, -a.value))
    rows = [
        {
            "label": numbers.plain(each.metric),
            "value": _number(100 * each.value),
            "low": _number(100 * each.interval[0]),
            "high": _number(100 * each.interval[1]),
            "series": series,
        }
        for series, (_, group) in enumerate(groupby(found, key=lambda a: a.rank))
        for each in group
    ]
    ranked = "; metrics of one rank share a colour" if any(each.rank for each in found) else ""
    return {
        "kind": "dots",
        "title": numbers.plain(name),
        "x": f"{statistic_of(verdict)}; {level:.0%} intervals{ranked}",
        "rows": rows,
    }


def _figure(picture: Curves | Matrix | Clouds | Dots) -> dict[str, Any]:
    title = numbers.plain(picture.title)
    if isinstance(picture, Matrix):
        values = [[_number(value) for value in row] for row in np.asarray(picture.values).tolist()]
        return {"kind": "matrix", "title": title, "labels": [*map(numbers.plain, picture.labels)], "values": values}
    x = numbers.plain(picture.x_label)
    if isinstance(picture, Dots):
        rows = [
            {
                "label": numbers.plain(label),
                "value": _number(dot.value),
                "low": None if dot.interval is None else _number(dot.interval[0]),
                "high": None if dot.interval is None else _number(dot.interval[1]),
                "series": 0,
            }
            for label, dot in picture.rows.items()
        ]
        return {"kind": "dots", "title": title, "x": x, "rows": rows, "line": rows[0]["value"] if rows else None}
    y = numbers.plain(picture.y_label)
    if isinstance(picture, Clouds):
        clouds = [
            {
                "label": numbers.plain(label),
                "points": _numbers(cloud.points),
                "outline": _numbers(cloud.outline),
                "center": _numbers(cloud.center),
            }
            for label, cloud in picture.clouds.items()
        ]
        return {"kind": "clouds", "title": title, "x": x, "y": y, "clouds": clouds}
    lines = [
        {
            "label": numbers.plain(label),
            "points": curve.points,
            **{
                name: None if values is None else _numbers(values)
                for name, values in (("x", curve.x), ("y", curve.y), ("low", curve.low), ("high", curve.high))
            },
        }
        for label, curve in picture.lines.items()
    ]
    return {"kind": "curves", "title": title, "x": x, "y": y, "lines": lines, "logarithmic": picture.logarithmic}


def _number(value: float) -> float | None:
    """Six significant digits, which no chart can show; None for what is not a number."""
    return float(f"{value:.6g}") if np.isfinite(value) else None


def _numbers(values: Any) -> Any:
    """The same of all numbers of an array, in lists."""
    array = np.asarray(values, np.float64)
    if array.ndim > 1:
        return [_numbers(row) for row in array]
    return [_number(value) for value in array.tolist()]
