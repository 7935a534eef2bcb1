"""Writes docs/papers.md and docs/papers/ from the files of papers and results of ``captious reproduce``.

    python tools/papers.py RESULT.json...  keeps results in judgment/papers/measured/, and writes the pages
    python tools/papers.py                 writes the pages
    python tools/papers.py --check         fails if a page is not current

Run it after changing a paper. Results are the output of ``captious reproduce PAPER [TABLE] --format json``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import fill

from captious.judgment.papers import paper as papers
from captious.judgment.papers.paper import Paper, PaperTable
from captious.judgment.reproduction.reproduce import check_table
from captious.judgment.reproduction.reproduction_result import (
    SIGNS,
    Counts,
    Reproduced,
    explanations,
    measured,
    other_note,
    write_measured,
)

PAGES = Path(__file__).parents[1] / "docs" / "papers"
_WIDTH = 120


def pages() -> dict[str, str]:
    """Return the text of every page by file name."""
    figures = {}
    for name in papers.BUILT_IN:
        paper = papers.get(name)
        for table in paper.tables:
            check_table(paper, table)
        figures[name] = measured(paper) or []
    return {
        "../papers.md": _index(figures),
        **{f"{name}.md": _page(papers.get(name), of_paper) for name, of_paper in figures.items()},
    }


def _index(figures: dict[str, list[Reproduced]]) -> str:
    every = [figure for of_paper in figures.values() for figure in of_paper]
    lines = [
        "# Tables of papers",
        "",
        _text(
            "`captious reproduce PAPER TABLE --data DIR` computes a table of a paper and prints it beside the "
            "published figures, `captious reproduce PAPER` all its tables, and `captious reproduce list` the list "
            "below. A figure is *equal* to half a unit of its last printed digit, *near* at most .01 away (one point "
            "where the paper prints percentages), or *differs*. Figures of other data, models or drawn references than "
            "the paper's are compared, but count as none of these. [Add your paper's tables](add-a-paper.md) describes "
            "tables of other packages."
        ),
        "",
        f"All papers: {Counts.of(every).text}.",
    ]
    for name, of_paper in figures.items():
        paper = papers.get(name)
        lines += ["", f"## [{name}](papers/{name}.md)", "", _text(f"{paper.title}. {Counts.of(of_paper).text}.")]
        lines += ["", "| table | in the paper | figures |", "|---|---|---|"]
        for table in paper.tables:
            state = Counts.of(figure for figure in of_paper if figure.table == table.name).text
            lines.append(f"| `{table.name}` | {table.place} | {state} |")
    return "\n".join(lines) + "\n"


def _page(paper: Paper, figures: list[Reproduced]) -> str:
    lines = [f"# {paper.name}", "", _text(f"{paper.title}."), ""]
    lines += [f"<!-- skip: needs the judgments -->\n```console\n$ captious reproduce {paper.name} --data DIR\n```", ""]
    lines += [
        _text(
            f"{Counts.of(figures).text}. Cells have our value, a sign, and the published figure: = equal, ≈ near, ≠ "
            f"different; – is not computed. [Tables of papers](../papers.md) defines them."
        )
    ]
    for table in paper.tables:
        of_table = [figure for figure in figures if figure.table == table.name]
        lines += ["", f"## {table.name}: {table.place}", "", _text(f"{table.shows} {Counts.of(of_table).text}.")]
        marks: dict[str, int] = {}
        lines += ["", *_matrix(table, of_table, marks)]
        needs = table.needs_text
        said = [
            *(f"<sup>{number}</sup> {text}." for text, number in marks.items()),
            *(
                [f"Differences: {'; '.join(text.rstrip('.') for text in explanations(of_table))}."]
                if explanations(of_table)
                else []
            ),
            *([f"Needs {needs}."] if needs else []),
            *([table.note] if table.note else []),
        ]
        for text in said:
            lines += ["", _text(text)]
    return "\n".join(lines) + "\n"


def _matrix(table: PaperTable, figures: list[Reproduced], marks: dict[str, int]) -> list[str]:
    """Return the rows of a table in Markdown, and number its notes."""
    found = {(figure.row, figure.column): figure for figure in figures}
    names = [column.name for column in table.columns]
    lines = [f"| | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for row in table.rows:
        cells = [_cell(table, found.get((row.name, name)), marks) for name in names]
        lines.append(f"| {row.name} | {' | '.join(cells)} |")
    return lines


def _cell(table: PaperTable, figure: Reproduced | None, marks: dict[str, int]) -> str:
    if figure is None:
        return ""
    scale = 100 if table.percent else 1
    digits = figure.printed.digits if figure.printed else table.digits
    theirs = f" {_number(scale * figure.printed.value, digits)}" if figure.printed else ""
    if figure.shown is None:
        return f"–{theirs}" if theirs else ""
    mark = ""
    if figure.other and figure.printed:
        mark = f"<sup>{marks.setdefault(other_note(figure.other), len(marks) + 1)}</sup>"
    sign = f" {SIGNS[figure.verdict]}" if theirs else ""
    return f"{_number(scale * figure.shown, digits)}{mark}{sign}{theirs}"


def _number(value: float, digits: int) -> str:
    """Without the zero before the point, as these papers print."""
    text = f"{value:,.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def _text(text: str) -> str:
    return fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def main(arguments: list[str]) -> None:
    if arguments == ["--check"]:
        stale = [name for name, text in pages().items() if (PAGES / name).read_text(encoding="utf-8") != text]
        sys.exit(f"not current: {', '.join(stale)}; run python tools/papers.py" if stale else 0)
    for result in arguments:
        write_measured(json.loads(Path(result).read_text(encoding="utf-8")))
    for name, text in pages().items():
        (PAGES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
