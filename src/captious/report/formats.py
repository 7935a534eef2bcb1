"""Output formats of results: functions from a table to text or bytes. To add one, write it and enter it in ``FORMATS``.

``Presentation`` determines how a table is shown in any format. Caption scores are written to files of rows. Results
display themselves through this module; see ``captious.tables``.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from captious import drawing
from captious.errors import UnknownNameError, needed_for
from captious.evaluation import Reports
from captious.files import check_row_file, csv_text, harmless, write_rows
from captious.metrics.contract.registry import NamingScheme, label_in_scheme
from captious.plugins import deferred
from captious.report.terminal import plain_text
from captious.tables import (
    LOWER_IS_BETTER,
    PAPER,
    Cell,
    Column,
    Form,
    IntervalStyle,
    Table,
    document_text,
    json_value,
    oriented,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from captious.evaluation import Report


# Choice of values that papers print in bold: all that look like the best one, unless all look alike.


def best_looking(table: Table) -> list[list[bool]]:
    """Return, for each cell of each row, whether it looks like the best of the comparable values."""
    texts = [[*map(drawing.format_cell, row.cells, table.columns)] for row in table.rows]
    best = [[cell is not None and cell.best for cell in row.cells] for row in table.rows]
    if table.across:
        return [*map(_alike, texts, best)]
    by_column = [
        _alike([*column], [*of_column])
        for column, of_column in zip(zip(*texts, strict=True), zip(*best, strict=True), strict=True)
    ]
    return [[*row] for row in zip(*by_column, strict=True)]


def _alike(texts: Sequence[str], best: Sequence[bool]) -> list[bool]:
    """Return a mask of the texts that equal one of the best; all False if all texts are the same."""
    best_texts = {text for text, is_best in zip(texts, best, strict=True) if is_best}
    return [len({*texts}) > 1 and text in best_texts for text in texts]


# ``Presentation``, short formats, and files of caption scores.

INTERVAL_STYLES: tuple[IntervalStyle, ...] = get_args(IntervalStyle)
_PERCENT_FORMS: Mapping[Form, Form] = {"score": "percent", "difference": "percent difference"}


@dataclass(frozen=True, kw_only=True)
class Presentation:
    """Options for the presentation of a table.

    Args:
        percent: multiply scores by 100 and show one decimal, as papers do.
        naming: names of metrics: those of captious, of the COCO toolkit (Bleu_4, CIDEr), or the abbreviations of papers
            (B@4, C).
        transpose: exchange rows and columns. Tables of scores have a row for each metric, and in papers (LaTeX,
            Markdown) a row for each system.
        interval_style: position of intervals in LaTeX: beside scores, on a line below them, or as their subscripts.

    Raises:
        UnknownNameError: unknown ``naming`` or style.
    """

    percent: bool = False
    naming: NamingScheme = "captious"
    transpose: bool = False
    interval_style: IntervalStyle = "beside"

    def __post_init__(self) -> None:
        label_in_scheme("", self.naming)
        if self.interval_style not in INTERVAL_STYLES:
            raise UnknownNameError(
                f"there is no style of intervals {self.interval_style!r}", hint=f"choose {', '.join(INTERVAL_STYLES)}"
            )

    def apply(self, table: Table) -> Table:
        """Return the table as it is to be shown."""
        columns = table.columns
        if self.percent:
            columns = [replace(column, form=_PERCENT_FORMS.get(column.form, column.form)) for column in columns]
        rows = table.rows
        if self.naming != "captious":
            rows = [
                replace(
                    row,
                    label=label_in_scheme(row.label, self.naming),
                    section=label_in_scheme(row.section, self.naming),
                    cells=[self._cell(cell, column) for cell, column in zip(row.cells, columns, strict=True)],
                )
                for row in rows
            ]
            if not any(row.label for row in rows):  # a study, whose columns are not systems
                columns = [replace(column, head=label_in_scheme(column.head, self.naming)) for column in columns]
        return replace(
            table,
            columns=columns,
            rows=rows,
            below=None if table.below is None else self.apply(table.below),
            following=[*map(self.apply, table.following)],
            transposed=table.transposed != self.transpose,
            interval_style=self.interval_style,
        )

    def _cell(self, cell: Cell | None, column: Column) -> Cell | None:
        """Return a cell, with the name of a metric replaced according to ``naming``."""
        if cell is None or column.head != "metric" or not isinstance(cell.value, str):
            return cell
        return replace(cell, value=label_in_scheme(cell.value, self.naming))


def json_text(table: Table) -> str:
    """Return a whole result as one JSON document, with null for NaN."""
    return document_text(table.document)


def csv(table: Table) -> str:
    """Return the numbers of a result, unrounded, one record per line."""
    fields = [*table.records[0]] if table.records else [column.head for column in table.columns]
    return csv_text(fields, ([*record.values()] for record in table.records))


def plot(table: Table, name: str | None = None) -> Figure:
    """Draw one of the pictures of a table; see ``captious.tables``."""
    from captious.report.plots import draw_one

    return draw_one(table.pictures, name)


#: Extensions of files of caption scores.
CAPTION_FORMATS = (".jsonl", ".csv", ".parquet")


def check_caption_file(path: str | os.PathLike[str]) -> None:
    """Check that ``write_captions`` can write a file, as ``check_row_file`` does."""
    check_row_file(path, CAPTION_FORMATS, "caption scores")


def write_captions(path: str | os.PathLike[str], reports: Sequence[Report]) -> None:
    """Write caption scores, one row per image: id, candidate, one column per output; `system` if there are several.

    Several candidates per image are a list in column `candidates`; in csv, the list as JSON.

    Parquet files have the signatures in their metadata, under the names of the columns.

    Raises:
        ParameterError, MissingExtraError: as ``check_caption_file`` does.
        OutputError: the file cannot be written.
    """
    check_caption_file(path)
    signatures = {name: result.signature for name, result in reports[0].items()}
    records = reports[0].to_records() if len(reports) == 1 else Reports(reports).to_records()
    rows = ([*map(json_value, record.values())] for record in records)  # None if a caption has no score
    write_rows(path, [*records[0]], rows, signatures)


# Tables as LaTeX: a tabular for the package booktabs, after comments that say what it depends on.

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
    """Return a table as a tabular, followed by those of its following tables; the best of several values is bold.

    A comment above it names the package that it needs.
    """
    return _tabular(table, r"% \usepackage{booktabs}")


def _tabular(table: Table, *comments: str) -> str:
    if not table.columns:
        return f"{escaped(' '.join([table.title, *table.notes]))}\n"
    following = table.following
    table = oriented(table, PAPER)
    has_sections = any(row.section for row in table.rows)
    n_labels = 2 if has_sections else int(any(row.label for row in table.rows))
    lines = [
        *(f"% {drawing.single_line(comment)}" for comment in table.comments),
        *comments,
        rf"\begin{{tabular}}{{{'l' * n_labels}{''.join(column.align[0] for column in table.columns)}}}",
        r"\toprule",
        *(line if isinstance(line, str) else _row(line) for line in _lines(table, n_labels)),
        r"\bottomrule",
        r"\end{tabular}",
        *([f"% {drawing.single_line(table.legend)}"] if table.legend else []),
        "",
    ]
    return "\n".join(["\n".join(lines), *map(_tabular, following)])


def _row(cells: Sequence[str]) -> str:
    """Return a line of cells. The command before it would take a bracket or star at its beginning as its own."""
    row = " & ".join(cells) + r" \\"
    return f"{{}}{row}" if row.startswith(("[", "*")) else row


def escaped(text: str) -> str:
    """Escape text for LaTeX, on one line."""
    return "".join(_ESCAPES.get(c, c) for c in drawing.single_line(text))


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
        values = [*map(_latex_value, row.cells, columns, best)]
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


def _latex_value(cell: Cell | None, column: Column, best: bool) -> str:
    """Return the value of a cell, without its interval."""
    if cell is None:
        return ""
    if isinstance(cell.value, tuple):
        return _ends(drawing.format_bounds(cell.value, cell.form or column.form, cell.digits))
    value = drawing.format_cell(cell, column)
    value = escaped(value) if isinstance(cell.value, str) else _number(value)
    value = rf"\textbf{{{value}}}" if best else value
    return value + (rf"\textsuperscript{{{escaped(cell.marks)}}}" if cell.marks else "")


def _span(cell: Cell | None, column: Column) -> str:
    """Return the interval of a value; empty if there is none."""
    return _ends(drawing.format_cell_interval(cell, column)) if cell is not None and cell.interval else ""


def _ends(bounds: Sequence[str]) -> str:
    return f"[{', '.join(map(_number, bounds))}]"


def _number(text: str) -> str:
    """Format a number with a minus sign in math mode instead of a hyphen."""
    return "".join(f"${c}$" if c in "-<>" else _ESCAPES.get(c, c) for c in text)


# Tables as Markdown, as GitHub and notebooks render it, after a comment that says what the numbers depend on.

_RULES = {"left": ":--", "right": "--:", "center": ":-:"}


def markdown(table: Table) -> str:
    """Return a table as Markdown; the best of several values is bold."""
    if not table.columns:
        return f"{_escaped(' '.join([table.title, *table.notes]))}\n"
    below, following = table.below, table.following
    table = oriented(table, PAPER)
    rows = [*table.rows, *table.description]
    is_best = best_looking(table) + [[False] * len(table.columns)] * len(table.description)
    sections = [row.section for row in rows]
    labels = [[table.label_head] * (any(sections) + any(row.label for row in table.rows))][0]
    heads = [*labels, *map(_head, table.columns)]
    rules = [_RULES["left"]] * len(labels) + [_RULES[column.align] for column in table.columns]
    lines = [_line(heads), _line(rules)]
    for number, (row, best) in enumerate(zip(rows, is_best, strict=True)):
        section = row.section if number == 0 or sections[number - 1] != row.section else ""
        labels_of_row = [section, row.in_papers or row.label][2 - len(labels) :]
        lines.append(_line([*map(_escaped, labels_of_row), *map(_markdown_value, row.cells, table.columns, best)]))
    comments = [drawing.single_line(comment).replace("--", "- -") for comment in table.comments]
    above = ["<!--", *comments, "-->", ""] if comments else []
    legend = ["", _escaped(table.legend)] if table.legend else []
    text = "\n".join([*above, *lines, *legend, ""])
    for part in (*([below] if below else []), *following):
        text = f"{text}\n{_escaped(part.title)}\n\n{markdown(part)}".rstrip("\n") + "\n"
    return text


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _head(column: Column) -> str:
    name = column.in_papers or column.head
    return _escaped(f"{column.group}: {name}" if column.group else name)


def _markdown_value(cell: Cell | None, column: Column, best: bool) -> str:
    if cell is None:
        return ""
    value = drawing.format_cell(cell, column)
    if isinstance(cell.value, tuple):
        return drawing.with_minus_signs(
            f"[{', '.join(drawing.format_bounds(cell.value, cell.form or column.form, cell.digits))}]"
        )
    value = _escaped(value) if isinstance(cell.value, str) else _escaped(drawing.with_minus_signs(value))
    value = f"**{value}**" if best else value
    value += f"<sup>{_escaped(cell.marks)}</sup>" if cell.marks else ""
    span = drawing.format_cell_interval(cell, column)
    return value + (drawing.with_minus_signs(f" [{', '.join(span)}]") if span else "")


def _escaped(text: str) -> str:
    """Escape text for Markdown, on one line."""
    return re.sub(r"([\\`*_\[\]<>|$~])", r"\\\1", drawing.single_line(text))


# Tables as spreadsheets (.xlsx): a sheet with the table as shown, and one with all numbers unrounded.

_DIGITS: dict[Form, str] = {
    "score": "0.0000",
    "number": "0.0000",
    "rounded": "0.00",
    "difference": "+0.0000;-0.0000",
    "effect": "+0.000;-0.000",
    "p": "0.000",
    "percent": "0.0",
    "percent difference": "+0.0;-0.0",
    "count": "#,##0",
}


def xlsx(table: Table) -> bytes:
    """Return a workbook with the sheets "table" and "data". Its numbers are numbers, with a number format.

    Raises:
        MissingExtraError: openpyxl is not installed.
    """
    with needed_for("writing a spreadsheet", "xlsx"):
        from openpyxl import Workbook
        from openpyxl.styles import Font
    book = Workbook()
    sheet = book.active
    sheet.title = "table"
    for part in (table, *table.following):
        view = oriented(part, PAPER)
        sheet.append([part.label_head, *(text for column in view.columns for text in _heads(view, column))])
        for row in view.rows:
            label = f"{row.section}, {row.label}" if row.section else row.in_papers or row.label
            pieces = [piece for place, cell in enumerate(row.cells) for piece in _pieces(view, place, cell)]
            sheet.append([_text(label), *(value for value, _, _ in pieces)])
            for place, (_, form, bold) in enumerate(pieces, start=2):
                target = sheet.cell(sheet.max_row, place)
                target.number_format, target.font = form, Font(bold=bold)
        for note in (*part.comments, *filter(None, [part.legend])):
            sheet.append([_text(note)])
    data = book.create_sheet("data")
    for number, record in enumerate(table.records):
        if number == 0:
            data.append([*record])
        data.append([_text(value) if isinstance(value, str) else json_value(value) for value in record.values()])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _text(value: str) -> str:
    """Return text for a cell: on one line, and not a formula."""
    return str(harmless(drawing.single_line(value)))


def _heads(table: Table, column: Column) -> Iterator[str]:
    """Return the heading of a column, and those of the columns of its intervals and marks."""
    name = drawing.single_line(column.in_papers or column.head)
    name = f"{column.group}: {name}" if column.group else name
    yield _text(name)
    place = table.columns.index(column)
    if _any_has(table, place, "interval"):
        yield from (_text(f"{name} low"), _text(f"{name} high"))
    if _any_has(table, place, "marks"):
        yield _text(f"{name} marks")


def _any_has(table: Table, place: int, part: Literal["interval", "marks"]) -> bool:
    return any(cell and getattr(cell, part) for cell in (row.cells[place] for row in table.rows))


def _pieces(table: Table, place: int, cell: Cell | None) -> Iterator[tuple[Any, str, bool]]:
    """Return the value of a cell with its number format and whether it is bold, the ends of its interval, its marks."""
    form = (cell and cell.form) or table.columns[place].form
    scale = 100 if form.startswith("percent") else 1
    value: Any = None if cell is None else cell.value
    if isinstance(value, Real) and not isinstance(value, bool):
        value = json_value(float(value) * scale)
    elif value is not None:
        text = drawing.format_value(value, form)
        value = _text(drawing.with_minus_signs(text) if isinstance(value, tuple) else text)
    yield value, _DIGITS[form], cell is not None and cell.best
    if _any_has(table, place, "interval"):
        ends = (None, None) if cell is None or cell.interval is None else cell.interval
        digits = _DIGITS["percent" if scale > 1 else "score"]
        yield from ((None if end is None else json_value(float(end) * scale), digits, False) for end in ends)
    if _any_has(table, place, "marks"):
        yield _text(cell.marks) if cell and cell.marks else None, "General", False


# HTML, and the list of all formats.

#: A table for notebooks, and a page with charts of pictures.
notebook_html = deferred("report.html:notebook_html")
page = deferred("report.page:table_page")

#: By the name that ``--format`` takes: the extension of files, and "table".
FORMATS: Mapping[str, Callable[[Table], str | bytes]] = {
    "table": plain_text,
    "json": json_text,
    "csv": csv,
    "md": markdown,
    "tex": latex,
    "html": page,
    "xlsx": xlsx,
}


def presented(table: Table, format: str, **presentation: Any) -> str | bytes:
    """Return a table in one of ``FORMATS``, as ``Presentation`` shows it."""
    return FORMATS[format](Presentation(**presentation).apply(table))
