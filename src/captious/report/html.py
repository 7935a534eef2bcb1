"""Results as HTML tables, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from captious.evaluation import Comparison, Report
from captious.report import numbers

__all__ = ["comparison_html", "report_html"]


def report_html(report: Report) -> str:
    """One system, one row per output; the signature shows when the pointer rests on a row."""
    rows = [(name, [numbers.score(result.score)], result.signature) for name, result in report.items()]
    caption = f"{report.system}: {report.n_images:,} images, {report.n_references:,} references"
    return _page(caption, ["score"], rows)


def comparison_html(comparison: Comparison) -> str:
    """Two systems and their differences."""
    heads = [comparison.a.system, comparison.b.system, "difference", f"{comparison.level:.0%} interval", "p"]
    rows = []
    for name, d in comparison.items():
        cells = [
            numbers.score(d.score_a),
            numbers.score(d.score_b),
            numbers.signed(d.difference),
            numbers.span(*d.interval),
            numbers.p_value(d.p_randomization),
        ]
        rows.append((name, cells, d.signature))
    return _page(f"{comparison.a.n_images:,} images; p of approximate randomisation", heads, rows)


def _page(caption: str, heads: Iterable[str], rows: Iterable[tuple[str, list[str], str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in ["", *heads])
    body = "".join(
        f'<tr title="{escape(signature)}"><th style="text-align: left">{escape(name)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, cells, signature in rows
    )
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
