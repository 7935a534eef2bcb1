"""Tables as LaTeX: a tabular for the package booktabs, after comments that say what it depends on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from typing import TypeAlias

from captious.report import numbers
from captious.report.best_values import best_looking
from captious.results.table import LOWER_IS_BETTER, PAPER, Cell, Column, Table, oriented

#: The cells of a row, or a command between rows.
Line: TypeAlias = Sequence[str] | str

_SYMBOLS = {
    "kendall-tau-b": r"$\tau_b$",
    "kendall-tau-c": r"$\tau_c$",
    "spearman": r"$\rho$",
    "pearson": "$r$",
    "p": "$p$",
}
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    LOWER_IS_BETTER: r"$\downarrow$",
    "×": r"$\times$",
    "≈": r"$\approx$",
    "≠": r"$\neq$",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


def latex(table: Table) -> str:
    """Return a table as a tabular, followed by those of its following tables; the best of several values is bold."""
    following = table.following
    table = oriented(table, PAPER)
    has_sections = any(row.section for row in table.rows)
    n_labels = 2 if has_sections else int(any(row.label for row in table.rows))
    lines = [
        *(f"% {numbers.single_line(comment)}" for comment in table.comments),
        rf"\begin{{tabular}}{{{'l' * n_labels}{''.join(column.align[0] for column in table.columns)}}}",
        r"\toprule",
        *(line if isinstance(line, str) else " & ".join(line) + r" \\" for line in _lines(table, n_labels)),
        r"\bottomrule",
        r"\end{tabular}",
        *([f"% {numbers.single_line(table.legend)}"] if table.legend else []),
        "",
    ]
    return "\n".join(["\n".join(lines), *map(latex, following)])


def escaped(text: str) -> str:
    """Escape text for LaTeX, on one line."""
    return "".join(_ESCAPES.get(c, c) for c in numbers.single_line(text))


def _lines(table: Table, n_labels: int) -> Iterator[Line]:
    """Return the headings, and a line for each row, or two if its intervals are below its values."""
    columns = table.columns
    if groups := [(name, len([*members])) for name, members in groupby(column.group for column in columns) if name]:
        yield from _above(groups, n_labels + len([*takewhile(lambda column: not column.group, columns)]))
    yield [*[table.label_head] * n_labels, *(_named(column.in_papers, column.head) for column in columns)]
    section: str | None = None
    unmarked = [[False] * len(columns)] * len(table.description)
    for row, best in zip([*table.rows, *table.description], best_looking(table) + unmarked, strict=True):
        begins = row.section != section or row is next(iter(table.description), None)
        if begins:
            yield r"\midrule"
        section = row.section
        labels = [escaped(row.section) if begins else "", _named(row.in_papers, row.label)][2 - n_labels :]
        values = [*map(_value, row.cells, columns, best)]
        spans = [_span(cell, column) for cell, column in zip(row.cells, columns, strict=True)]
        if table.interval_style == "below" and any(spans):
            yield [*labels, *values]
            yield [*[""] * n_labels, *(span and rf"{{\scriptsize {span}}}" for span in spans)]
        elif table.interval_style == "subscript":
            below = [span and rf"\textsubscript{{{span}}}" for span in spans]
            yield [*labels, *map(str.__add__, values, below)]
        else:
            yield [*labels, *(f"{value} {span}".rstrip() for value, span in zip(values, spans, strict=True))]


def _above(groups: Sequence[tuple[str, int]], n_labels: int) -> list[Line]:
    """Return the headings of column groups, with rules below them."""
    names = [rf"\multicolumn{{{n}}}{{c}}{{{escaped(name)}}}" for name, n in groups]
    rules, first = [], n_labels + 1
    for _, n in groups:
        rules.append(rf"\cmidrule(lr){{{first}-{first + n - 1}}}")
        first += n
    return [[*[""] * n_labels, *names], " ".join(rules)]


def _named(in_papers: str, name: str) -> str:
    """Return the symbol or name of a statistic or metric in papers, else the name."""
    return _SYMBOLS.get(in_papers) or escaped(in_papers or name)


def _value(cell: Cell | None, column: Column, best: bool) -> str:
    """Return the value of a cell, without its interval."""
    if cell is None:
        return ""
    if isinstance(cell.value, tuple):
        return _ends(numbers.format_bounds(cell.value, cell.form or column.form, cell.digits))
    value = numbers.format_cell(cell, column)
    value = escaped(value) if isinstance(cell.value, str) else _number(value)
    value = rf"\textbf{{{value}}}" if best else value
    return value + (rf"\textsuperscript{{{escaped(cell.marks)}}}" if cell.marks else "")


def _span(cell: Cell | None, column: Column) -> str:
    """Return the interval of a value; empty if there is none."""
    return _ends(numbers.format_cell_interval(cell, column)) if cell is not None and cell.interval else ""


def _ends(bounds: Sequence[str]) -> str:
    return f"[{', '.join(map(_number, bounds))}]"


def _number(text: str) -> str:
    """Format a number with a minus sign in math mode instead of a hyphen."""
    return "".join(f"${c}$" if c in "-<>" else _ESCAPES.get(c, c) for c in text)
