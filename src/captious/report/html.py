"""Results as HTML tables, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING

from captious.evaluation import Comparison, GroupedComparison, GroupedReport, Report
from captious.report import numbers
from captious.report.provenance import (
    cell,
    explanations,
    in_order,
    is_number,
    protocol_facts,
    signatures_of,
    statistic_of,
    study_facts,
    study_signatures,
)

if TYPE_CHECKING:
    from captious.judgment import Judgment, Study, Verdict

__all__ = [
    "comparison_html",
    "grouped_comparison_html",
    "grouped_report_html",
    "judgment_html",
    "report_html",
    "study_html",
]


def report_html(report: Report) -> str:
    """One system, one row per output; the signature shows when the pointer rests on a row."""
    rows = [
        (numbers.labelled(name, result.lower_is_better), [numbers.score(result.score)], result.signature)
        for name, result in report.items()
    ]
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
        rows.append((numbers.labelled(name, d.lower_is_better), cells, d.signature))
    return _page(f"{comparison.a.n_images:,} images; p values from approximate randomization", heads, rows)


def grouped_report_html(grouped: GroupedReport) -> str:
    """One system: one row per output, one column per group and average."""
    sizes = [f"{name} ({report.n_images:,})" for name, report in grouped.items()]
    rows = []
    scores = grouped.scores()
    for name, result in grouped.whole.items():
        cells = [numbers.score(each.score) for each in scores if each.metric == name]
        rows.append((numbers.labelled(name, result.lower_is_better), cells, result.signature))
    caption = f"{grouped.whole.system}: {grouped.whole.n_images:,} images by {grouped.by}"
    return _page(caption, [*sizes, "macro", "micro"], rows)


def grouped_comparison_html(grouped: GroupedComparison) -> str:
    """Two systems and their differences, one row per output and group or average."""
    whole = grouped.whole
    heads = ["images", whole.a.system, whole.b.system, "difference", f"{whole.level:.0%} interval", "p", "corrected"]
    rows = []
    for d in grouped.differences:
        corrected = "" if d.corrected_randomization is None else numbers.p_value(d.corrected_randomization)
        cells = [
            f"{d.n_images:,}",
            numbers.score(d.score_a),
            numbers.score(d.score_b),
            numbers.signed(d.difference),
            numbers.span(*d.interval),
            numbers.p_value(d.p_randomization),
            corrected,
        ]
        rows.append((f"{numbers.labelled(d.metric, d.lower_is_better)}, {d.group or d.part}", cells, d.signature))
    caption = (
        f"{whole.a.n_images:,} images by {grouped.by}; p values from approximate randomization, and with Holm's "
        "correction for the number of groups"
    )
    return _page(caption, heads, rows)


def judgment_html(judgment: Judgment) -> str:
    """Metrics by benchmark, values in hundredths; below, folded away, all that the numbers depend on."""
    heads = {name: _judged_heads(verdict, judgment.level) for name, verdict in judgment.items()}
    above = "".join(
        f'<th colspan="{len(heads[name])}">{escape(name)}<br>{escape(statistic_of(verdict))}</th>'
        for name, verdict in judgment.items()
    )
    names = "".join(f"<th>{escape(head)}</th>" for name in heads for head in heads[name])
    rows = []
    for metric in in_order(judgment):
        cells = [text for verdict in judgment.values() for text in _judged_cells(verdict, metric, judgment.level)]
        rows.append(_row(metric, cells))
    head = f"<tr><th></th>{above}</tr><tr><th></th>{names}</tr>"
    facts = {f"{name}, {label}": text for name in judgment for label, text in protocol_facts(judgment[name]).items()}
    return _table(head, rows) + _details(facts, signatures_of(judgment), explanations(judgment))


def study_html(study: Study) -> str:
    """The records of a study; below, folded away, all that the numbers depend on."""
    names = "".join(f"<th>{escape(column.replace('_', ' '))}</th>" for column in study.columns)
    rows = []
    for record in study.records:
        values = [record.get(column) for column in study.columns]
        cells = "".join(_cell(cell(value), right=is_number(value)) for value in values)
        rows.append(f"<tr>{cells}</tr>")
    table = _table(f"<tr>{names}</tr>", rows, caption=study.title)
    return table + _details(study_facts(study), study_signatures(study), study.notes)


def _judged_heads(verdict: Verdict, level: float) -> list[str]:
    some = next(iter(verdict.results.values()))
    return ["value", f"{level:.0%} interval", *(["rank"] * (some.rank is not None)), *some.parts]


def _judged_cells(verdict: Verdict, metric: str, level: float) -> list[str]:
    """The cells of a metric; of one that was not judged, empty ones."""
    if metric not in verdict.results:
        return [""] * len(_judged_heads(verdict, level))
    found = verdict[metric]
    low, high = found.interval
    cells = [numbers.score(100 * found.value, 1), numbers.span(100 * low, 100 * high, 1)]
    cells += [str(found.rank)] * (found.rank is not None)
    return cells + [numbers.score(100 * value, 1) for value in found.parts.values()]


def _row(name: str, cells: Iterable[str]) -> str:
    shown = "".join(_cell(text, right=True) for text in cells)
    return f'<tr><th style="text-align: left">{escape(name)}</th>{shown}</tr>'


def _cell(text: str, *, right: bool) -> str:
    return f'<td style="text-align: {"right" if right else "left"}">{escape(text)}</td>'


def _table(head: str, rows: Iterable[str], *, caption: str = "") -> str:
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _details(facts: Mapping[str, str], signatures: Iterable[str], sentences: Iterable[str]) -> str:
    """Sentences, and a list that opens on request."""
    lines = [f"{label}: {text}" for label, text in facts.items()]
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    codes = "".join(f"<li><code>{escape(signature)}</code></li>" for signature in signatures)
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    return f"{said}<details><summary>protocols, data, signatures</summary><ul>{items}{codes}</ul></details>"


def _page(caption: str, heads: Iterable[str], rows: Iterable[tuple[str, list[str], str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in ["", *heads])
    body = "".join(
        f'<tr title="{escape(signature)}"><th style="text-align: left">{escape(name)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, cells, signature in rows
    )
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
