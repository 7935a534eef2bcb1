"""Judgments and studies as LaTeX: a tabular for the package booktabs, under comments that say what it rests on."""

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
    from captious.judgment import Judgment, Study, Verdict

__all__ = ["escaped", "judgment_latex", "study_latex"]

_SYMBOLS = {"kendall-tau-b": r"$\tau_b$", "kendall-tau-c": r"$\tau_c$", "spearman": r"$\rho$", "pearson": "$r$"}
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "×": r"$\times$",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


def escaped(text: str) -> str:
    """Text as LaTeX shows it, on one line."""
    return "".join(_ESCAPES.get(c, c) for c in numbers.plain(text))


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
