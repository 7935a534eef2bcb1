"""Results as HTML: the tables of pages, and what notebooks show, which is the same tables with their style."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from captious.evaluation import Comparison, GroupedComparison, GroupedReport, Report
from captious.report import numbers
from captious.report.page.document import asset
from captious.report.provenance import (
    cell,
    explanations,
    heading,
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
    "details",
    "differences_table",
    "group_table",
    "grouped_comparison_html",
    "grouped_report_html",
    "judgment_details",
    "judgment_html",
    "judgment_table",
    "report_html",
    "scores_table",
    "signatures",
    "study_details",
    "study_html",
    "study_table",
]

_SIGNIFICANT = 0.05
_AVERAGES = {"macro": "mean of groups (macro)", "micro": "all images (micro)"}
_WIDTH, _HEIGHT = 160, 16  # of the drawing of a difference, in pixels


# ---- what notebooks show


def report_html(report: Report) -> str:
    """One system, one row per output; the signature shows when the pointer rests on a row."""
    caption = f"{report.system}: {report.n_images:,} images, {report.n_references:,} references"
    return _for_notebooks(scores_table([report], caption=caption, head="score"))


def comparison_html(comparison: Comparison) -> str:
    """Two systems and their differences."""
    caption = (
        f"{comparison.a.n_images:,} images; below each difference its {comparison.level:.0%} interval; "
        f"{comparison.resamples:,} resamples, seed {comparison.seed}"
    )
    return _for_notebooks(differences_table(comparison, caption=caption))


def grouped_report_html(grouped: GroupedReport) -> str:
    """One system: one row per output, one column per group and average."""
    sizes = [f"{name} ({report.n_images:,})" for name, report in grouped.items()]
    scores = grouped.scores()
    rows = []
    for name, result in grouped.whole.items():
        cells = [_number(numbers.score(each.score)) for each in scores if each.metric == name]
        rows.append(_row(numbers.labelled(name, result.lower_is_better), cells, result.signature))
    caption = f"{grouped.whole.system}: {grouped.whole.n_images:,} images by {grouped.by}"
    return _for_notebooks(_table(_heads([*sizes, "macro", "micro"]), rows, caption=caption))


def grouped_comparison_html(grouped: GroupedComparison) -> str:
    """Two systems and their differences, one row per output and group or average."""
    whole = grouped.whole
    heads = ["images", whole.a.system, whole.b.system, "difference", "p randomization", "corrected"]
    rows = []
    for d in grouped.differences:
        corrected = "" if d.corrected_randomization is None else numbers.p_value(d.corrected_randomization)
        cells = [
            _number(f"{d.n_images:,}"),
            _number(numbers.score(d.score_a)),
            _number(numbers.score(d.score_b)),
            _number(numbers.signed(d.difference), numbers.span(*d.interval)),
            _number(numbers.p_value(d.p_randomization)),
            _number(corrected),
        ]
        label = f"{numbers.labelled(d.metric, d.lower_is_better)}, {d.group or d.part}"
        rows.append(_row(label, cells, d.signature))
    caption = (
        f"{whole.a.n_images:,} images by {grouped.by}; below each difference its {whole.level:.0%} interval; p values "
        "from approximate randomization, and with Holm's correction for the number of groups"
    )
    return _for_notebooks(_table(_heads(heads), rows, caption=caption))


def judgment_html(judgment: Judgment) -> str:
    """Metrics by benchmark, values in hundredths; below, folded away, all that the numbers depend on."""
    return _for_notebooks(judgment_table(judgment) + judgment_details(judgment))


def study_html(study: Study) -> str:
    """The records of a study; below, folded away, all that the numbers depend on."""
    return _for_notebooks(study_table(study, caption=study.title) + study_details(study))


def _for_notebooks(content: str) -> str:
    return f'<div class="captious"><style>{asset("tables.css")}</style>{content}</div>'


# ---- tables


def scores_table(
    reports: Sequence[Report],
    *,
    caption: str = "",
    head: str = "",
    intervals: Sequence[Mapping[str, tuple[float, float]]] = (),
) -> str:
    """Systems side by side, one row per output, the best of several marked.

    Args:
        reports: systems that were scored with the same metrics on the same images.
        caption: of the table.
        head: of the column, if there is one system; its name by default.
        intervals: of every system, to show below the scores: output -> bounds.
    """
    heads = [head or reports[0].system] if len(reports) == 1 else [report.system for report in reports]
    rows = []
    for name, result in reports[0].items():
        scores = [report[name].score for report in reports]
        cells = []
        for number, value in enumerate(scores):
            beneath = numbers.span(*intervals[number][name]) if intervals else ""
            cells.append(
                _number(numbers.score(value), beneath, "best" * (value == numbers.best(scores, result.lower_is_better)))
            )
        rows.append(_row(numbers.labelled(name, result.lower_is_better), cells, result.signature))
    return _table(_heads(heads), rows, caption=caption)


def differences_table(comparison: Comparison, *, caption: str = "") -> str:
    """Two systems: scores, differences with intervals, p values and effect sizes."""
    a, b = comparison.a.system, comparison.b.system
    heads = [a, b, "difference", "", "p bootstrap", "p randomization", "effect size"]
    rows = []
    for name, d in comparison.items():
        is_significant = d.p_bootstrap < _SIGNIFICANT
        cells = [
            _number(numbers.score(d.score_a)),
            _number(numbers.score(d.score_b)),
            _number(numbers.signed(d.difference), numbers.span(*d.interval), "significant" * is_significant),
            f'<td class="drawing" aria-hidden="true">{_drawing(d.difference, *d.interval)}</td>',
            _number(numbers.p_value(d.p_bootstrap)),
            _number(numbers.p_value(d.p_randomization)),
            _number(numbers.signed(d.effect_size, 3)),
        ]
        rows.append(_row(numbers.labelled(name, d.lower_is_better), cells, d.signature))
    return _table(_heads(heads), rows, caption=caption)


def group_table(grouped: Sequence[GroupedReport], name: str) -> str:
    """One output by group: systems side by side, one row per group and average, intervals below the scores."""
    by_system = [[each for each in system.scores(intervals=True) if each.metric == name] for system in grouped]
    rows = []
    for scores in zip(*by_system, strict=True):
        values = [each.score for each in scores]
        cells = [_number(f"{scores[0].n_images:,}")]
        for each in scores:
            beneath = numbers.span(*each.interval) if each.interval is not None else ""
            best = each.score == numbers.best(values, each.lower_is_better)
            cells.append(_number(numbers.score(each.score), beneath, "best" * best))
        rows.append(_row(scores[0].group or _AVERAGES[scores[0].part], cells, scores[0].signature))
    return _table(_heads(["images", *(each.whole.system for each in grouped)]), rows)


def _drawing(value: float, low: float, high: float) -> str:
    """A difference as a point with its interval, on a scale of its own around zero; decoration."""
    most = max(abs(value), abs(low), abs(high))
    if not 0 < most < float("inf"):
        return ""
    middle = _WIDTH / 2
    x = [round(middle + each / most * (middle - 5), 1) for each in (low, high, value)]
    return (
        f'<svg class="difference" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'aria-hidden="true" focusable="false"><line x1="{middle}" y1="0" x2="{middle}" y2="{_HEIGHT}"/>'
        f'<line class="interval" x1="{x[0]}" y1="8" x2="{x[1]}" y2="8"/><circle cx="{x[2]}" cy="8" r="3.5"/></svg>'
    )


def judgment_table(judgment: Judgment) -> str:
    """Metrics by benchmark, values in hundredths."""
    heads = {name: _judged_heads(verdict, judgment.level) for name, verdict in judgment.items()}
    above = "".join(
        f'<th class="group" scope="colgroup" colspan="{len(heads[name])}">{_text(name)}'
        f'<span class="beneath">{_text(statistic_of(verdict))}</span></th>'
        for name, verdict in judgment.items()
    )
    names = "".join(f'<th scope="col">{_text(head)}</th>' for name in heads for head in heads[name])
    rows = []
    for metric in in_order(judgment):
        found = [text for verdict in judgment.values() for text in _judged_cells(verdict, metric, judgment.level)]
        rows.append(_row(metric, [_number(text) for text in found]))
    return _table(f"<tr><td></td>{above}</tr><tr><td></td>{names}</tr>", rows)


def judgment_details(judgment: Judgment) -> str:
    """What intervals and ranks are; protocols, data, signatures."""
    facts = {f"{name}, {label}": text for name in judgment for label, text in protocol_facts(judgment[name]).items()}
    return details(facts, signatures_of(judgment), explanations(judgment))


def study_table(study: Study, *, caption: str = "") -> str:
    """The records of a study."""
    is_text = [not any(is_number(record.get(column)) for record in study.records) for column in study.columns]
    names = "".join(
        f'<th scope="col"{" class=text" if text else ""}>{_text(heading(column))}</th>'
        for column, text in zip(study.columns, is_text, strict=True)
    )
    rows = []
    for record in study.records:
        values = [cell(record.get(column)) for column in study.columns]
        cells = (
            f"<td{' class=text' if text else ''}>{_text(value)}</td>"
            for value, text in zip(values, is_text, strict=True)
        )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return _table(f"<tr>{names}</tr>", rows, caption=caption)


def study_details(study: Study) -> str:
    """Notes; settings, data, signatures."""
    return details(study_facts(study), study_signatures(study), study.notes)


def details(facts: Mapping[str, str], codes: Iterable[str], sentences: Iterable[str]) -> str:
    """Sentences, and a list that opens on request."""
    said = "".join(f'<p class="explained">{_text(sentence)}</p>' for sentence in sentences)
    items = "".join(f"<li>{_text(f'{label}: {value}')}</li>" for label, value in facts.items())
    items += "".join(f"<li><code>{_text(code)}</code></li>" for code in codes)
    return f"{said}<details><summary>Protocols, data, signatures</summary><ul>{items}</ul></details>" if items else said


def signatures(report: Report) -> str:
    """The signature of every output, which opens on request."""
    rows = "".join(
        f"<div><dt>{_text(name)}</dt><dd><code>{_text(result.signature)}</code></dd></div>"
        for name, result in report.items()
    )
    return f'<details><summary>Signatures of the metrics</summary><dl class="signatures">{rows}</dl></details>'


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


def _text(value: str) -> str:
    return escape(numbers.plain(value))


def _number(value: str, beneath: str = "", style: str = "") -> str:
    """A cell with a number, and a smaller line below it."""
    below = f'<span class="beneath">{_text(beneath)}</span>' if beneath else ""
    return f'<td{f" class={style}" if style else ""}><span class="value">{_text(value)}</span>{below}</td>'


def _heads(names: Iterable[str]) -> str:
    """Heads of columns, after that of the row heads; empty for one that holds drawings."""
    cells = [f'<th scope="col">{_text(name)}</th>' if name else '<td class="drawing"></td>' for name in names]
    return f"<tr><td></td>{''.join(cells)}</tr>"


def _row(name: str, cells: Iterable[str], title: str = "") -> str:
    hint = f' title="{_text(title)}"' if title else ""
    return f'<tr{hint}><th class="text" scope="row">{_text(name)}</th>{"".join(cells)}</tr>'


def _table(head: str, rows: Iterable[str], *, caption: str = "") -> str:
    above = f"<caption>{_text(caption)}</caption>" if caption else ""
    return f'<table class="results">{above}<thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'
