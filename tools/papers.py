"""Writes docs/papers.md and docs/papers/ from values in judgment/papers/ and results of ``captious reproduce``.

    python tools/papers.py RESULT.json...  takes results into docs/papers/measured/, and writes the pages
    python tools/papers.py                 writes the pages
    python tools/papers.py --check         fails if a page is not current

Run it after changing a paper. Results are the output of ``captious reproduce PAPER [TABLE] --format json``.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from textwrap import fill
from typing import Any

from captious.judgment.papers import paper as paper_names
from captious.judgment.papers.paper import Paper, PaperTable
from captious.judgment.reproduction.paper_checks import STATES, check_table
from captious.judgment.reproduction.reproduction_result import SIGNS

PAGES = Path(__file__).parents[1] / "docs" / "papers"
MEASURED = PAGES / "measured"
_WIDTH = 120
_LETTERS = "abcdefgh"
_FIGURE = re.compile(r'\{\s+"ci95_high"[^}]*\}')
_CLAUSE_END = re.compile(r"[.:;] ")
_COMPARED = ("same", "within interval", "differs")


def pages() -> dict[str, str]:
    """Return the text of every page by file name."""
    papers = [paper_names.get(name) for name in paper_names.BUILT_IN]
    for paper in papers:
        for table in paper.tables:
            check_table(paper, table)
    return {"../papers.md": _index(papers), **{f"{paper.name}.md": _page(paper) for paper in papers}}


def _index(papers: list[Paper]) -> str:
    n = sum(len(paper.tables) for paper in papers)
    lines = [
        "# Tables of papers",
        "",
        _text(
            f"This page lists {n} tables and figures of {len(papers)} papers that captious implements, and whether "
            "captious reproduces them. "
            "`captious reproduce PAPER TABLE --data DIR` computes a table and prints it next to the published figures, "
            "`captious reproduce PAPER` all tables of a paper, and `captious reproduce list` this list. "
            "[Add your paper's tables](add-a-paper.md) describes tables of other packages."
        ),
        "",
        _text("The state of a table is one of these words:"),
        "",
        *(f"- *{state}*: {meaning}" for state, meaning in STATES.items()),
        "",
        _text(
            "Every table is computed from the [folder of judgment data](judgment.md#data). Its metrics declare further "
            "needs, such as word vectors or models; rows without such needs are computed in any case. The third column "
            "counts the computed figures, and how many of the published ones are the same, to half a unit of the "
            "paper's last digit, or within our interval. Published figures of other tables, and page numbers, were not "
            "available. The page of a paper and `captious reproduce list` describe the needs of each table in full, "
            "and why figures differ."
        ),
    ]
    for paper in papers:
        lines += [
            "",
            f"## [{paper.name}](papers/{paper.name}.md)",
            "",
            f"{paper.title}.",
            "",
            "| table | in the paper | figures | state | why, and what it needs |",
            "|---|---|---|---|---|",
        ]
        measured = _measured(paper.name)
        for table in paper.tables:
            counted = _counted(measured.get(table.name, {}).get("figures", []))
            lines.append(f"| `{table.name}` | {table.place} | {counted} | {table.state} | {_brief(table)} |")
    return "\n".join(lines) + "\n"


def _brief(table: PaperTable) -> str:
    """Return why our figures differ, what the table needs, and its command, each cut after the first clause."""
    needs = ", ".join(dict.fromkeys(_CLAUSE_END.split(need, maxsplit=1)[0] for need in table.all_needs))
    said = {"": table.differs, "needs ": needs, "run ": table.command if table.state == "command" else ""}
    return "; ".join(word + _CLAUSE_END.split(text, maxsplit=1)[0] for word, text in said.items() if text)


def _counted(figures: list[dict[str, Any]]) -> str:
    """Return how many figures were computed, and how many of those that were published agree."""
    computed = [figure for figure in figures if figure["value"] is not None]
    compared = [figure for figure in computed if figure["verdict"] in _COMPARED]
    agree = sum(figure["verdict"] != "differs" for figure in compared)
    return f"{len(computed)}" + (f", {agree} of {len(compared)} agree" if compared else "") if computed else ""


def _page(paper: Paper) -> str:
    measured = _measured(paper.name)
    lines = [f"# {paper.name}", "", f"{paper.title}.", ""]
    lines += [f"<!-- skip: needs the judgments -->\n```console\n$ captious reproduce {paper.name} --data DIR\n```", ""]
    lines += [
        _text(
            "`tools/papers.py` writes the tables below from the values in "
            f"`src/captious/judgment/papers/{paper.name}.py` and from results of this command. Cells contain our value "
            "with its 95% interval, and the published figure after a sign: = the same, to half a unit of its last "
            "digit, ≈ within our interval, ≠ different, ; not comparable. [Tables of papers](../papers.md) lists all "
            "papers."
        )
    ]
    shared = _shared_reasons(paper)
    for reason, heading in shared.items():
        lines += ["", f"## {heading}", "", _text(_sentence(reason[0].upper() + reason[1:]))]
    for table in paper.tables:
        lines += ["", f"## {table.name}: {table.place}", "", _text(table.shows)]
        figures = measured.get(table.name, {}).get("figures", [])
        if figures or table.published:
            lines += ["", *_figures(table, figures)]
        seconds = measured.get(table.name, {}).get("seconds", 0)
        for mark, resource in zip(_LETTERS, _stand_ins(figures), strict=False):
            lines += [
                "",
                _text(f"<sup>{mark}</sup> with {resource}, unlike the paper: an equal figure may be a coincidence."),
            ]
        for label, text in (
            ("State", f"{table.state}: {STATES[table.state]}"),
            ("Command", table.command),
            ("Time", f"{seconds:.0f} s of CPU time, all cores together" if seconds >= 1 else ""),
            ("Why figures differ", _reason(table, shared)),
            ("Needs", table.needs_text),
            ("Open", table.remark),
        ):
            if text:
                first, *points = _sentence(text).split(" • ")
                lines += ["", _text(f"**{label}:** {first}"), *([""] if points else [])]
                lines += [_text(f"- {point}", indent="  ") for point in points]
        if table.columns and not table.published and table.metrics:
            lines += ["", "**Published figures:** not available."]
    return "\n".join(lines) + "\n"


def _stand_ins(figures: list[dict[str, Any]]) -> list[str]:
    """Return the resources used instead of the paper's in compared figures, each once."""
    compared = [figure for figure in figures if figure["verdict"] in SIGNS]
    return [*dict.fromkeys(figure["stand_ins"] for figure in compared if figure["stand_ins"])]


def _figures(table: PaperTable, figures: list[dict[str, Any]]) -> list[str]:
    """Return the rows of a table in Markdown; of one that was not measured, its published figures."""
    found = {(figure["row"], figure["column"]): figure for figure in figures}
    marks = {resource: f"<sup>{mark}</sup>" for resource, mark in zip(_stand_ins(figures), _LETTERS, strict=False)}
    lines = [f"| | {' | '.join(column.label for column in table.columns)} |", "|---|" + "---|" * len(table.columns)]
    for row in table.rows:
        published = table.published.get(row, (None,) * len(table.columns))
        pairs = zip(table.columns, published, strict=True)
        cells = [_cell(table, found.get((row, column.label)), figure, marks) for column, figure in pairs]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return lines


def _cell(table: PaperTable, figure: dict[str, Any] | None, published: float | None, marks: dict[str, str]) -> str:
    theirs = "" if published is None else _number(published, table.digits)
    if figure is None or figure["value"] is None:
        return f"– ; {theirs}" if theirs else "–"
    scale = 100 if table.percent else 1
    ours = theirs if figure["verdict"] == "same" else _number(scale * figure["value"], table.digits)
    ours += marks.get(figure["stand_ins"], "") if theirs else ""
    if figure["ci95_low"] is not None:
        low, high = (_number(scale * figure[end], table.digits) for end in ("ci95_low", "ci95_high"))
        ours += f" ({low} – {high})"
    sign = SIGNS[figure["verdict"]].replace("|", ";") if theirs else ""
    return f"{ours} {sign} {theirs}" if theirs else ours


def _number(value: float, digits: int) -> str:
    """Without the zero before the point, as these papers print."""
    return f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.{digits}f}"


def _shared_reasons(paper: Paper) -> dict[str, str]:
    """Return the headings of reasons why figures of several tables differ, by reason."""
    reasons = Counter(table.differs for table in paper.tables if table.differs)
    shared = [reason for reason, n in reasons.items() if n > 1]
    numbers = [""] if len(shared) == 1 else [f" {number}" for number in range(1, len(shared) + 1)]
    return {reason: f"Why several tables differ{number}" for reason, number in zip(shared, numbers, strict=True)}


def _reason(table: PaperTable, shared: dict[str, str]) -> str:
    """Return why figures of a table differ, as a link if the page says it of several tables."""
    heading = shared.get(table.differs)
    return f"see [{heading}](#{heading.lower().replace(' ', '-')})" if heading else table.differs


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _text(text: str, *, indent: str = "") -> str:
    return fill(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _measured(paper: str) -> dict[str, Any]:
    """Return results by table: figures, signatures and data."""
    path = MEASURED / f"{paper}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def take(result: Path) -> None:
    """Take the tables of a result among the measured ones."""
    document = json.loads(result.read_text(encoding="utf-8"))
    known = _measured(document["paper"])
    for table in document["tables"]:
        figures = [figure for figure in document["figures"] if figure["table"] == table]
        if any(figure["value"] is not None for figure in figures):
            kept = ("row", "column", "value", "ci95_low", "ci95_high", "verdict", "stand_ins")
            known[table] = {
                "resamples": document["resamples"],
                "seconds": document["seconds"][table],
                "data": document["data"],
                "signatures": sorted(set(document["signatures"].values())),
                "figures": [{key: _rounded(figure[key]) for key in kept} for figure in figures],
            }
    MEASURED.mkdir(parents=True, exist_ok=True)
    path = MEASURED / f"{document['paper']}.json"
    text = json.dumps(known, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    path.write_text(_FIGURE.sub(lambda lines: " ".join(lines[0].split()), text), encoding="utf-8")  # a line each


def _rounded(value: object) -> object:
    return round(value, 6) if isinstance(value, float) else value


def main(arguments: list[str]) -> None:
    if arguments == ["--check"]:
        stale = [name for name, text in pages().items() if (PAGES / name).read_text(encoding="utf-8") != text]
        sys.exit(f"not current: {', '.join(stale)}; run python tools/papers.py" if stale else 0)
    for result in arguments:
        take(Path(result))
    PAGES.mkdir(exist_ok=True)
    for name, text in pages().items():
        (PAGES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
