"""Tables as HTML, for pages, and for notebooks with their style included."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib import resources
from itertools import groupby
from unicodedata import bidirectional

from captious import drawing
from captious.drawing import SERIES, difference_drawing, scores_drawing
from captious.evaluation.comparison import RULE
from captious.tables import PAGE, Cell, Column, Table, oriented

# Tables, and other parts of pages.


def text(value: str) -> str:
    """Escape text from outside for HTML."""
    return escape(drawing.single_line(value))


@cache
def asset(name: str) -> str:
    """Return the content of a file of the package."""
    return resources.files("captious.report").joinpath("assets", name).read_text(encoding="utf-8")


def notebook_html(table: Table) -> str:
    """Return a table for notebooks, with its style, and collapsed details about its numbers below."""
    below = "" if any(row.signature for row in table.rows) and not table.legend else details(table)
    if table.below is not None:
        below += html_table(table.below, table.below.title)
    for following in table.following:
        below += html_table(following, following.title) + details(following)
    style = f"<style>{asset('tables.css')}</style>"
    return f'<div class="captious">{style}{html_table(table, table.caption)}{below}</div>'


def html_table(table: Table, caption: str = "", *, section: str = "", drawn: bool = False) -> str:
    """Return a table; signatures show when the pointer hovers over a row.

    Args:
        table: the table.
        caption: its caption.
        section: the only section to show.
        drawn: draw the scores of each row with their intervals at its end, in the colors of systems.
    """
    table = oriented(table, PAGE)
    has_labels = any(row.label for row in table.rows)
    body = []
    for row in table.rows:
        if section and row.section != section:
            continue
        cells = "".join(map(_cell, row.cells, table.columns))
        if drawn:
            cells += f'<td class="drawing" aria-hidden="true">{scores_drawing(row.cells, table.columns[0].form)}</td>'
        hint = f' title="{text(row.signature)}"' if row.signature else ""
        label = row.label if section or not row.section else f"{row.section}, {row.label}"
        head = f'<th class="text" scope="row">{text(label)}</th>' if has_labels else ""
        body.append(f"<tr{hint}>{head}{cells}</tr>")
    if not section and not drawn:
        for row in table.description:
            cells = "".join(map(_cell, row.cells, table.columns))
            body.append(f'<tr class="description"><th class="text" scope="row">{text(row.label)}</th>{cells}</tr>')
    corner = "<td></td>" if has_labels else ""
    names = [_mark(place) * drawn + text(column.head) for place, column in enumerate(table.columns)]
    heads = f"<tr>{corner}{''.join(map(_head, table.columns, names))}{'<td class=drawing></td>' * drawn}</tr>"
    if table.group_notes:
        heads = f"<tr>{corner}{_groups(table)}</tr>{heads}"
    above = f"<caption>{text(caption)}</caption>" if caption else ""
    return f'<table class="results">{above}<thead>{heads}</thead><tbody>{"".join(body)}</tbody></table>'


def details(table: Table) -> str:
    """Return the conditions of a table: sentences, and a list that opens on request."""
    facts = [
        f"{heading}, {label}: {fact}" if heading else f"{label}: {fact}"
        for heading, of_heading in table.facts.items()
        for label, fact in of_heading.items()
    ]
    rows = [*table.rows, *(table.below.rows if table.below else [])]
    bold = [f"Bold: {RULE}."] * any(cell and cell.significant for row in rows for cell in row.cells)
    sentences = [*table.explanations, *table.notes, *filter(None, [table.legend]), *bold]
    below = "".join(f'<p class="explained">{text(sentence)}</p>' for sentence in sentences)
    items = "".join(f"<li>{text(fact)}</li>" for fact in facts)
    items += "".join(f"<li><code>{text(signature)}</code></li>" for signature in table.signatures)
    if items:
        below += f"<details><summary>Protocols, data, signatures</summary><ul>{items}</ul></details>"
    return below


def signature_list(table: Table) -> str:
    """Return the signature of every row, in a list that opens on request."""
    rows = "".join(
        f"<div><dt>{text(row.label)}</dt><dd><code>{text(row.signature)}</code></dd></div>" for row in table.rows
    )
    return f'<details><summary>Signatures of the metrics</summary><dl class="signatures">{rows}</dl></details>'


def note(sentences: Iterable[str], names: Iterable[str] = ()) -> str:
    """Return warnings, each once; nothing if there are none. Names from right to left are isolated from other words."""
    paragraphs = "".join(f"<p>{text(sentence)}</p>" for sentence in dict.fromkeys(sentences))
    for name in names:
        if any(bidirectional(c) in ("R", "AL") for c in name):
            paragraphs = re.sub(rf"(?<!\w){re.escape(text(name))}(?!\w)", r"<bdi>\g<0></bdi>", paragraphs)
    return f'<div class="note" role="note">{paragraphs}</div>' if paragraphs else ""


def scrolling(table: str, label: str) -> str:
    """Wrap a table that may be wider than the window."""
    return f'<div class="scroll" role="region" aria-label="{text(label)}" tabindex="0">{table}</div>'


def _groups(table: Table) -> str:
    """Return the headings of column groups, with the note of each."""
    return "".join(
        f'<th class="group" scope="colgroup" colspan="{len([*members])}">{text(name)}'
        f"{_beneath(table.group_notes[name])}</th>"
        for name, members in groupby(column.group for column in table.columns)
    )


def _mark(place: int) -> str:
    """Return a mark in the color of a system."""
    return f'<span class="mark series-{place % SERIES}" aria-hidden="true"></span>'


def _head(column: Column, name: str) -> str:
    kind = " class=text" if column.align == "left" else ""
    return f'<th scope="col"{kind}>{name}</th>' + '<td class="drawing"></td>' * column.drawn


def _cell(cell: Cell | None, column: Column) -> str:
    """Return a value, with its interval on a smaller line below."""
    if cell is None:
        return '<td><span class="value"></span></td>'
    value = drawing.format_cell(cell, column)
    value = text(value if isinstance(cell.value, str) else drawing.with_minus_signs(value))
    if column.align == "left":
        return f"<td class=text>{value}</td>"
    kind = " class=best" * (cell.best and column.marked) + " class=significant" * cell.significant
    value += f"<sup>{text(cell.marks)}</sup>" if cell.marks else ""
    below = (
        _beneath(drawing.with_minus_signs(" – ".join(drawing.format_cell_interval(cell, column))))
        if cell.interval
        else ""
    )
    drawn = f'<td class="drawing" aria-hidden="true">{difference_drawing(cell)}</td>' if column.drawn else ""
    return f'<td{kind}><span class="value">{value}</span>{below}</td>{drawn}'


def _beneath(line: str) -> str:
    return f'<span class="beneath">{text(line)}</span>'
