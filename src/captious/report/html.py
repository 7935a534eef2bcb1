"""Tables as HTML, for pages, and for notebooks with their style included; and small drawings in them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib import resources
from itertools import groupby

from captious.report import numbers
from captious.tables import PAGE, Cell, Column, Form, Table, oriented

# Small drawings of values with their intervals for table cells; decoration, as the numbers are shown as well.
#
# Drawings are as wide as their cell: positions are in percent.

SERIES = 8  # colors of systems
_LANE = 9  # between values of different systems, in pixels
_AXIS = 14  # below them
_ROW = 40  # height of a drawing in its own row
_MOST_STEPS = 6  # between ticks
_EDGE = 4.0  # at each side, in percent


def difference_drawing(cell: Cell) -> str:
    """Draw a difference as a point with its interval, on a scale of its own around zero."""
    assert isinstance(cell.value, float)
    assert cell.interval is not None
    ends = [*cell.interval, cell.value]
    most = max(map(abs, ends))
    if not (all(map(math.isfinite, ends)) and most):
        return ""
    return _svg("difference", 16, '<line x1="50%" x2="50%" y1="0" y2="16"/>' + _dot(cell, -most, most, 8))


def scores_drawing(cells: Sequence[Cell | None], form: Form = "score", scale: tuple[float, float] | None = None) -> str:
    """Draw the values of a row as points with their intervals, one below the other in the colors of systems.

    The axis of each row includes all its intervals; that of a single value begins at zero. It is multiplied by 100 if
    the form is percent.

    Args:
        scale: a shared scale, which the axis includes as well.
    """
    points = {place: cell for place, cell in enumerate(cells) if cell is not None and _is_drawn(cell)}
    ends = [float(end) for cell in points.values() for end in cell.interval or ()]
    if ends and scale is not None:
        ends += scale
    elif len(cells) == 1:
        ends.append(0.0)
    if not ends or min(ends) == max(ends):
        return ""
    low, high = min(ends), max(ends)
    height = _LANE * len(cells)
    axis = "".join(
        f'<line x1="{x}%" x2="{x}%" y1="0" y2="{height}"/><text x="{x}%" y="{height + _AXIS - 3}">{label}</text>'
        for x, label in _ticks(low, high, 100 if form == "percent" else 1)
    )
    dots = "".join(
        f'<g class="series-{place % SERIES}">{_dot(cell, low, high, _LANE * place + _LANE / 2)}</g>'
        for place, cell in points.items()
    )
    return _svg("scores", height + _AXIS, axis + dots)


def interval_drawing(cell: Cell, low: float, high: float) -> str:
    """Draw a value as a point with its interval, on a shared scale from ``low`` to ``high``.

    Lines are at the numbers of ``axis_drawing``.
    """
    if not _is_drawn(cell) or low >= high:
        return ""
    lines = "".join(f'<line x1="{x}%" x2="{x}%" y1="0" y2="{_ROW}"/>' for x, _ in _axis_ticks(low, high))
    return _svg("interval", _ROW, lines + _dot(cell, low, high, _ROW / 2))


def axis_drawing(low: float, high: float) -> str:
    """Draw the round numbers of a scale."""
    if low >= high:
        return ""
    labels = (f'<text x="{x}%" y="{_AXIS - 3}">{label}</text>' for x, label in _axis_ticks(low, high))
    return _svg("axis", _AXIS, "".join(labels))


def _axis_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return the ticks of a narrow scale, every other one if there are many."""
    ticks = _ticks(low, high, 1)
    return ticks if len(ticks) <= _MOST_STEPS / 2 else ticks[::2]


def _is_drawn(cell: Cell) -> bool:
    return cell.interval is not None and all(map(math.isfinite, (*cell.interval, cell.value)))  # type: ignore[arg-type]


def _dot(cell: Cell, low: float, high: float, y: float) -> str:
    assert isinstance(cell.value, float)
    assert cell.interval is not None
    left, right, x = (_place(end, low, high) for end in (*cell.interval, cell.value))
    interval = f'<line class="interval" x1="{left}%" x2="{right}%" y1="{y:g}" y2="{y:g}"/>'
    return f'{interval}<circle cx="{x}%" cy="{y:g}" r="3.5"/>'


def _place(value: float, low: float, high: float) -> float:
    """Return the position of a value, in percent of the width."""
    return round(_EDGE + (100 - 2 * _EDGE) * (value - low) / (high - low), 2)


def _ticks(low: float, high: float, scale: float) -> list[tuple[float, str]]:
    """Return the positions of round numbers of a scale, and their text."""
    low, high = scale * low, scale * high
    power = math.floor(math.log10((high - low) / _MOST_STEPS))
    steps = (factor * 10.0**power for factor in (1, 2, 5, 10))
    step = next(step for step in steps if (high - low) / step <= _MOST_STEPS * (1 + 1e-9))
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    multiples = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    labels = (numbers.with_minus_signs(numbers.format_score(n * step, digits)) if n else "0" for n in multiples)
    return [(_place(n * step, low, high), label) for n, label in zip(multiples, labels, strict=True)]


def _svg(kind: str, height: int, content: str) -> str:
    return f'<svg class="{kind}" width="100%" height="{height}" aria-hidden="true" focusable="false">{content}</svg>'


# Tables, and other parts of pages.

#: Folder of the style sheets of result pages and the evaluation server.
DESIGN_FOLDER = "design"


def text(value: str) -> str:
    """Escape text from outside for HTML."""
    return escape(numbers.single_line(value))


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
    sentences = [*table.explanations, *table.notes, *filter(None, [table.legend])]
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


def note(sentences: Iterable[str]) -> str:
    """Return warnings, each once; nothing if there are none."""
    paragraphs = "".join(f"<p>{text(sentence)}</p>" for sentence in dict.fromkeys(sentences))
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
    value = numbers.format_cell(cell, column)
    value = text(value if isinstance(cell.value, str) else numbers.with_minus_signs(value))
    if column.align == "left":
        return f"<td class=text>{value}</td>"
    kind = " class=best" * (cell.best and column.marked) + " class=significant" * cell.significant
    value += f"<sup>{text(cell.marks)}</sup>" if cell.marks else ""
    below = (
        _beneath(numbers.with_minus_signs(" – ".join(numbers.format_cell_interval(cell, column))))
        if cell.interval
        else ""
    )
    drawing = f'<td class="drawing" aria-hidden="true">{difference_drawing(cell)}</td>' if column.drawn else ""
    return f'<td{kind}><span class="value">{value}</span>{below}</td>{drawing}'


def _beneath(line: str) -> str:
    return f'<span class="beneath">{text(line)}</span>'
