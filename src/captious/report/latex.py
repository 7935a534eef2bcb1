"""Tables as LaTeX: a tabular for the package booktabs, below comments that say what it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TypeAlias

from captious.report import numbers
from captious.table import LOWER_IS_BETTER, PAPER, Cell, Column, Table

__all__ = ["escaped", "latex"]

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
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


def latex(table: Table) -> str:
    """A table as a tabular; the best of several values is bold."""
    columns = [column for column in table.columns if PAPER in column.media]
    cells = [
        [cell for cell, column in zip(row.cells, table.columns, strict=True) if PAPER in column.media]
        for row in table.rows
    ]
    kinds, lines = (_across if table.across_in_papers else _down)(table, columns, cells)
    comments = [f"% {numbers.plain(comment)}" for comment in table.comments]
    return "\n".join(
        [
            *comments,
            rf"\begin{{tabular}}{{{kinds}}}",
            r"\toprule",
            *(line if isinstance(line, str) else " & ".join(line) + r" \\" for line in lines),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def escaped(text: str) -> str:
    """Text as LaTeX shows it, on one line."""
    return "".join(_ESCAPES.get(c, c) for c in numbers.plain(text))


def _down(table: Table, columns: Sequence[Column], cells: Sequence[Sequence[Cell | None]]) -> tuple[str, list[Line]]:
    """A row for each row; sections begin with a rule."""
    has_sections = any(row.section for row in table.rows)
    n_labels = 2 if has_sections else int(any(row.label for row in table.rows))
    by_column = [_written([row[place] for row in cells], column) for place, column in enumerate(columns)]
    lines: list[Line] = []
    if groups := [(name, len([*members])) for name, members in groupby(column.group for column in columns) if name]:
        lines += _above(groups, n_labels)
    lines.append([*[table.label_head] * n_labels, *map(_head, columns)])
    if not has_sections:
        lines.append(r"\midrule")
    section = ""
    for row, *values in zip(table.rows, *by_column, strict=True):
        begins = row.section != section
        lines += [r"\midrule"] * begins
        labels = [escaped(row.section) if begins else "", escaped(row.in_papers or row.label)][-n_labels:]
        section = row.section
        lines.append([*(labels if n_labels else ()), *values])
    kinds = "".join(column.align[0] for column in columns)
    return "l" * n_labels + kinds, lines


def _across(table: Table, columns: Sequence[Column], cells: Sequence[Sequence[Cell | None]]) -> tuple[str, list[Line]]:
    """A column for each row, and a row for each column."""
    by_row = [_written(row, columns[0]) for row in cells]
    lines: list[Line] = []
    groups = [(name, len([*members])) for name, members in groupby(row.section for row in table.rows) if name]
    if groups:
        lines += _above(groups, 1)
    lines.append(["", *(escaped(row.in_papers or row.label) for row in table.rows)])
    lines.append(r"\midrule")
    lines += [[_head(column), *values] for column, *values in zip(columns, *by_row, strict=True)]
    return "l" + "r" * len(table.rows), lines


def _above(groups: Sequence[tuple[str, int]], n_labels: int) -> list[Line]:
    """Names of groups of columns, with rules below them."""
    names = [rf"\multicolumn{{{n}}}{{c}}{{{escaped(name)}}}" for name, n in groups]
    rules, first = [], n_labels + 1
    for _, n in groups:
        rules.append(rf"\cmidrule(lr){{{first}-{first + n - 1}}}")
        first += n
    return [[*[""] * n_labels, *names], " ".join(rules)]


def _head(column: Column) -> str:
    name = column.in_papers or column.head
    return _SYMBOLS.get(name) or escaped(name)


def _written(cells: Sequence[Cell | None], column: Column) -> list[str]:
    """Values that can be compared; those that look like the best one are bold, unless all look alike."""
    texts = ["" if cell is None else _value(cell.value, column) for cell in cells]
    best = {text for cell, text in zip(cells, texts, strict=True) if cell is not None and cell.best}
    if len({*texts}) > 1:
        texts = [rf"\textbf{{{text}}}" if text in best else text for text in texts]
    spans = [None if cell is None else cell.interval for cell in cells]
    return [text if span is None else f"{text} {_value(span, column)}" for text, span in zip(texts, spans, strict=True)]


def _value(value: object, column: Column) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_number(end) for end in numbers.bounds(value, column.form))}]"
    text = numbers.written(value, column.form)
    return escaped(text) if isinstance(value, str) else _number(text)


def _number(text: str) -> str:
    return "".join("$-$" if c == "-" else _ESCAPES.get(c, c) for c in text)
