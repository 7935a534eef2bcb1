"""Results as LaTeX: a tabular for the package booktabs, under comments that say what it depends on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from captious.report import numbers
from captious.report.provenance import (
    cell,
    explanations,
    heading,
    in_order,
    is_number,
    protocol_facts,
    signatures_of,
    study_facts,
    study_signatures,
)
from captious.version import __version__

if TYPE_CHECKING:
    from captious.evaluation import Comparison, Difference, GroupDifference, GroupedComparison, GroupedReport, Report
    from captious.judgment import Judgment, Study, Verdict

__all__ = [
    "comparison_latex",
    "escaped",
    "grouped_comparison_latex",
    "grouped_reports_latex",
    "judgment_latex",
    "reports_latex",
    "study_latex",
]

_SYMBOLS = {"kendall-tau-b": r"$\tau_b$", "kendall-tau-c": r"$\tau_c$", "spearman": r"$\rho$", "pearson": "$r$"}
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "↓": r"$\downarrow$",
    "×": r"$\times$",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


def escaped(text: str) -> str:
    """Text as LaTeX shows it, on one line."""
    return "".join(_ESCAPES.get(c, c) for c in numbers.plain(text))


def reports_latex(reports: Sequence[Report], *, intervals: bool = False) -> str:
    """One row per system, one column per output; the best of a column bold."""
    comments = [f"captious {__version__}", *_images(reports), *_signatures(reports[0])]
    columns = []
    for name, result in reports[0].items():
        spans = [report[name].confidence_interval() if intervals else None for report in reports]
        columns.append(_column([report[name].score for report in reports], spans, result.lower_is_better))
    heads = [escaped(numbers.labelled(name, result.lower_is_better)) for name, result in reports[0].items()]
    rows: list[Sequence[str] | str] = [["", *heads], r"\midrule"]
    rows += [
        [escaped(report.system), *cells] for report, cells in zip(reports, zip(*columns, strict=True), strict=True)
    ]
    return _document(comments, "l" + "r" * len(heads), rows)


def grouped_reports_latex(grouped: Sequence[GroupedReport], *, intervals: bool = False) -> str:
    """One row per system; for every output one column per group and average; the best of a column bold."""
    reports = [each.whole for each in grouped]
    comments = [f"captious {__version__}", *_images(reports), f"by {grouped[0].by}; macro: mean over groups"]
    comments += [f"  {name}: {report.n_images:,} images" for name, report in grouped[0].items()]
    comments += _signatures(reports[0])
    columns, names = [], []
    for scores in zip(*(each.scores(intervals=intervals) for each in grouped), strict=True):
        names.append(escaped(scores[0].group or {"macro": "macro", "micro": "all"}[scores[0].part]))
        columns.append(_column([s.score for s in scores], [s.interval for s in scores], scores[0].lower_is_better))
    width = len(grouped[0]) + 2
    above, rules = [], []
    for i, (name, result) in enumerate(reports[0].items()):
        above.append(rf"\multicolumn{{{width}}}{{c}}{{{escaped(numbers.labelled(name, result.lower_is_better))}}}")
        rules.append(rf"\cmidrule(lr){{{2 + i * width}-{1 + (i + 1) * width}}}")
    rows: list[Sequence[str] | str] = [["", *above], " ".join(rules), ["", *names], r"\midrule"]
    rows += [
        [escaped(report.system), *cells] for report, cells in zip(reports, zip(*columns, strict=True), strict=True)
    ]
    return _document(comments, "l" + "r" * len(names), rows)


def comparison_latex(comparison: Comparison) -> str:
    """One row per output: both scores, their difference with its interval, the p value of approximate randomization."""
    rows = [
        [escaped(numbers.labelled(name, d.lower_is_better)), *_difference_cells(d), _p_value(d.p_randomization)]
        for name, d in comparison.items()
    ]
    heads = [*_comparison_heads(comparison), "$p$"]
    return _document(_comparison_comments(comparison), "lrrrcr", [["", *heads], r"\midrule", *rows])


def grouped_comparison_latex(grouped: GroupedComparison) -> str:
    """The same, with one row per output and group or average; p values of groups with Holm's correction."""
    comments = [
        *_comparison_comments(grouped.whole),
        f"by {grouped.by}; macro: mean over groups",
        f"p values of groups have Holm's correction for {len(grouped.group_sizes)} groups, for each metric",
        *(f"  {name}: {n:,} images" for name, n in grouped.group_sizes.items()),
    ]
    rows: list[Sequence[str] | str] = [["", "", *_comparison_heads(grouped.whole), "$p$"]]
    for d in grouped.differences:
        first = d.group == next(iter(grouped.group_sizes))
        rows += [r"\midrule"] * first
        p = d.p_randomization if d.corrected_randomization is None else d.corrected_randomization
        name = escaped(numbers.labelled(d.metric, d.lower_is_better)) if first else ""
        part = escaped(d.group or {"macro": "macro", "micro": "all"}[d.part])
        rows.append([name, part, *_difference_cells(d), _p_value(p)])
    return _document(comments, "llrrrcr", rows)


def _images(reports: Sequence[Report]) -> list[str]:
    return [f"{report.system}: {report.n_images:,} images, {report.n_references:,} references" for report in reports]


def _signatures(report: Report) -> list[str]:
    return ["signatures", *(f"  {result.signature}" for result in report.values())]


def _column(
    scores: Sequence[float], spans: Sequence[tuple[float, float] | None], lower_is_better: bool | None
) -> list[str]:
    """Cells of one output, the best score bold if they differ."""
    texts = [_score(value) for value in scores]
    top = numbers.best(scores, lower_is_better)
    best = _score(top) if top is not None and len({*texts}) > 1 else ""
    cells = [rf"\textbf{{{text}}}" if text == best else text for text in texts]
    return [cell if span is None else f"{cell} {_span(span)}" for cell, span in zip(cells, spans, strict=True)]


def _comparison_comments(comparison: Comparison) -> list[str]:
    return [
        f"captious {__version__}; {comparison.b.system} minus {comparison.a.system}",
        *_images([comparison.a]),
        f"{comparison.level:.0%} intervals: paired bootstrap; p: approximate randomization; {comparison.resamples:,} "
        f"resamples, seed {comparison.seed}",
        *_signatures(comparison.a),
    ]


def _comparison_heads(comparison: Comparison) -> list[str]:
    systems = (escaped(comparison.a.system), escaped(comparison.b.system))
    return [*systems, "difference", rf"{100 * comparison.level:.0f}\% interval"]


def _difference_cells(difference: Difference | GroupDifference) -> list[str]:
    d = difference
    return [_score(d.score_a), _score(d.score_b), _minus(numbers.signed(d.difference)), _span(d.interval)]


def _score(value: float) -> str:
    return _minus(numbers.score(value)).replace("–", "--")


def _span(span: tuple[float, float]) -> str:
    return "[" + ", ".join(_minus(numbers.score(end, 3)).replace("–", "--") for end in span) + "]"


def _minus(text: str) -> str:
    return text.replace("-", "$-$")


def _p_value(p: float) -> str:
    return escaped(numbers.p_value(p))


def judgment_latex(judgment: Judgment) -> str:
    """Metrics by benchmark, values in hundredths with intervals and ranks; the best of a column bold."""
    comments = [f"captious {__version__}, judgment; values in hundredths"]
    for name, verdict in judgment.items():
        comments.append(f"{name}: {verdict.protocol.statistic}, n = {verdict.n}")
        comments += _listed(protocol_facts(verdict))
    comments += ["signatures", *(f"  {signature}" for signature in signatures_of(judgment)), *explanations(judgment)]
    heads = {name: _heads(verdict, judgment.level) for name, verdict in judgment.items()}
    best = {name: _best(verdict) for name, verdict in judgment.items()}
    above = [rf"\multicolumn{{{len(heads[name])}}}{{c}}{{{escaped(name)}}}" for name in heads]
    rules, first = [], 2
    for of_benchmark in heads.values():
        rules.append(rf"\cmidrule(lr){{{first}-{first + len(of_benchmark) - 1}}}")
        first += len(of_benchmark)
    names = [head for of_benchmark in heads.values() for head in of_benchmark]
    rows: list[Sequence[str] | str] = [["", *above], " ".join(rules), ["metric", *names], r"\midrule"]
    for metric in in_order(judgment):
        cells = (_cells(verdict, metric, heads[name], best[name]) for name, verdict in judgment.items())
        rows.append([escaped(metric), *chain.from_iterable(cells)])
    return _document(comments, "l" + "r" * (first - 2), rows)


def study_latex(study: Study) -> str:
    """The records of a study."""
    comments = [f"captious {__version__}, study {study.name}: {study.title}", *study.notes]
    comments += _listed(study_facts(study))
    if study.signatures:
        comments += ["signatures", *(f"  {signature}" for signature in study_signatures(study))]
    kinds = ""
    for column in study.columns:
        kinds += "r" if any(is_number(record.get(column)) for record in study.records) else "l"
    rows: list[Sequence[str] | str] = [[escaped(heading(column)) for column in study.columns], r"\midrule"]
    rows += [[escaped(cell(record.get(column))) for column in study.columns] for record in study.records]
    return _document(comments, kinds, rows)


def _heads(verdict: Verdict, level: float) -> list[str]:
    some = next(iter(verdict.results.values()))
    heads = [_SYMBOLS.get(verdict.protocol.statistic, verdict.protocol.statistic), rf"{100 * level:.0f}\% interval"]
    return heads + ["rank"] * (some.rank is not None) + [escaped(part) for part in some.parts]


def _best(verdict: Verdict) -> set[tuple[str, str]]:
    """(column, text) of the largest value of each column, where there is more than one; "" is the whole benchmark."""
    results = verdict.results.values()
    if len(results) < 2:
        return set()
    parts = next(iter(results)).parts
    best = {("", _value(max(each.value for each in results)))}
    return best | {(part, _value(max(each.parts[part] for each in results))) for part in parts}


def _cells(verdict: Verdict, metric: str, heads: Sequence[str], best: set[tuple[str, str]]) -> Iterator[str]:
    if metric not in verdict.results:
        yield from ["--", *[""] * (len(heads) - 1)]
        return
    found = verdict[metric]
    low, high = (_value(end) for end in found.interval)
    for part, value in {"": found.value, **found.parts}.items():
        text = _value(value)
        yield rf"\textbf{{{text}}}" if (part, text) in best else text
        if part == "":
            yield f"[{low}, {high}]"
            if found.rank is not None:
                yield str(found.rank)


def _value(fraction: float) -> str:
    return numbers.score(100 * fraction, 1).replace("-", "$-$")


def _listed(facts: Mapping[str, str]) -> list[str]:
    return [f"  {label}: {text}" for label, text in facts.items()]


def _document(comments: Iterable[str], columns: str, rows: Iterable[Sequence[str] | str]) -> str:
    """Comments, then a tabular; a row is its cells, or a command that stands between rows."""
    lines = [f"% {numbers.plain(comment)}" for comment in comments]
    lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [row if isinstance(row, str) else " & ".join(row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])
