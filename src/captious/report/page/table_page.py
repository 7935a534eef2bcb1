"""Pages of judgments and studies: a table, its pictures as charts, and everything that the numbers depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from captious.report import numbers
from captious.report.html import details, html_table, note, scrolling, text
from captious.report.page.document import document
from captious.results.pictures import Clouds, Curves, Dot, Dots, Matrix, Picture, Ranking
from captious.results.table import Table


def table_page(table: Table, title: str = "") -> str:
    """Return the table, and a chart for each of its pictures."""
    title = title or table.title or "Agreement of metrics with human judgments"
    figures = [_figure(picture) for picture in table.pictures.values()]
    content = scrolling(html_table(table), "Results") + details(table)
    if table.below is not None:
        content += f"<h2>{text(table.below.title)}</h2>{scrolling(html_table(table.below), table.below.title)}"
    for part in table.following:
        content += f"<h2>{text(part.title)}</h2>{scrolling(html_table(part), part.title)}{details(part)}"
    parts = [
        f"<h1>{text(title)}</h1>",
        note(table.warnings),
        f"<section>{content}</section>",
        '<section id="figures"><p class="needs-script">Charts need JavaScript.</p></section>' if figures else "",
    ]
    return document(title, "\n".join(filter(None, parts)), {"kind": "figures", "figures": figures})


def _figure(picture: Picture) -> dict[str, Any]:
    """Return the data that ``assets/results.js`` draws."""
    kind, content = _CHARTS[type(picture)]
    return {"kind": kind, "title": numbers.single_line(picture.title), **content(picture)}


def _ranking(picture: Ranking) -> dict[str, Any]:
    """Return the data of a ranking. Values of one rank share a color."""
    places = {rank: place for place, rank in enumerate(dict.fromkeys(picture.ranks))}
    shared = "; metrics of one rank share a color" if any(picture.ranks) else ""
    rows = _dots(picture.rows, [places[rank] for rank in picture.ranks])
    return {"x": numbers.single_line(picture.x_label) + shared, "rows": rows}


def _values(picture: Dots) -> dict[str, Any]:
    rows = _dots(picture.rows, [0] * len(picture.rows))
    line = None if picture.marked is None else _numbers([picture.marked])[0]
    return {"x": numbers.single_line(picture.x_label), "rows": rows, "line": line}


def _dots(dots: Mapping[str, Dot], series: Sequence[int]) -> list[dict[str, Any]]:
    rows = []
    for (label, dot), number in zip(dots.items(), series, strict=True):
        value, low, high = _numbers([dot.value, *(dot.interval or (np.nan, np.nan))])
        rows.append({"label": numbers.single_line(label), "value": value, "low": low, "high": high, "series": number})
    return rows


def _matrix(picture: Matrix) -> dict[str, Any]:
    return {"labels": [*map(numbers.single_line, picture.labels)], "values": _numbers(picture.values)}


def _clouds(picture: Clouds) -> dict[str, Any]:
    clouds = [
        {"label": numbers.single_line(label)}
        | {"points": _numbers(cloud.points), "outline": _numbers(cloud.outline), "center": _numbers(cloud.center)}
        for label, cloud in picture.clouds.items()
    ]
    return {"x": numbers.single_line(picture.x_label), "y": numbers.single_line(picture.y_label), "clouds": clouds}


def _curves(picture: Curves) -> dict[str, Any]:
    lines = []
    for label, curve in picture.lines.items():
        arrays = {"x": curve.x, "y": curve.y, "low": curve.low, "high": curve.high}
        packed = {name: None if values is None else _numbers(values) for name, values in arrays.items()}
        line = {"label": numbers.single_line(label), "points": curve.points, **packed}
        lines.append(line | ({"names": [*map(numbers.single_line, curve.names)]} if curve.names else {}))
    axes = {"x": numbers.single_line(picture.x_label), "y": numbers.single_line(picture.y_label)}
    return {**axes, "lines": lines, "logarithmic": picture.logarithmic}


def _numbers(values: Any) -> Any:
    """Convert an array to lists of numbers with six significant digits, as no chart shows more; None if not finite."""
    array = np.asarray(values, np.float64)
    if array.ndim > 1:
        return [_numbers(row) for row in array]
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in array.tolist()]


#: Kind of picture -> kind of chart, and what the chart needs.
_CHARTS: Mapping[type[Picture], tuple[str, Callable[[Any], dict[str, Any]]]] = {
    Curves: ("curves", _curves),
    Matrix: ("matrix", _matrix),
    Clouds: ("clouds", _clouds),
    Dots: ("dots", _values),
    Ranking: ("dots", _ranking),
}
