"""How pages and terminals show scores: numbers as text, values with their intervals as small drawings, styles, scripts.

    format_score(0.70801), format_interval(0.704, 0.712)  # ".7080", ".704 – .712"
    interval_drawing(Cell(0.708, (0.704, 0.712)), 0, 1)  # SVG

Numbers have four digits and no zero before the decimal point; names have no control characters.
"""

from __future__ import annotations

import io
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING

from captious.tables import Cell, Column, Form
from captious.words import counted, counted_of, percentage, sample_of, shortened

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "ANY_WIDTH",
    "ASSETS",
    "DESIGN_FOLDER",
    "NOTHING",
    "SCRIPTS",
    "SCRIPTS_FOLDER",
    "SERIES",
    "Cell",
    "as_html",
    "as_text",
    "axis_drawing",
    "counted",
    "counted_of",
    "difference_drawing",
    "format_bounds",
    "format_cell",
    "format_cell_interval",
    "format_difference",
    "format_interval",
    "format_p_value",
    "format_score",
    "format_value",
    "interval_drawing",
    "percentage",
    "sample_of",
    "scores_drawing",
    "shortened",
    "single_line",
    "with_minus_signs",
]

# Files of result pages, which the evaluation server shows as well.

#: The folder of the files of pages.
ASSETS = Path(__file__).parent / "report" / "assets"
#: The folder of style sheets in ``ASSETS``.
DESIGN_FOLDER = "design"
#: The folder in ``ASSETS`` of the scripts that draw explanations, and the scripts in loading order.
SCRIPTS_FOLDER = "explanations"
SCRIPTS = ("elements.js", "scene_graphs.js", "templates.js", "linked_words.js", "blocks.js")

# Numbers as text.

#: Stands where there is no value.
NOTHING = "–"


def format_value(value: object, form: Form, digits: int | None = None) -> str:
    """Format a value of a table in the form of its column, or with other digits after the decimal point."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " – ".join(format_bounds(value, form, digits))
    if isinstance(value, Integral):
        return f"{value:,}"
    if not isinstance(value, Real):
        return str(value)
    if digits is None:
        return _FORMS[form](float(value))
    scaled = 100 * float(value) if form.startswith("percent") else float(value)
    return format_difference(scaled, digits) if form.endswith("difference") else format_score(scaled, digits)


def format_bounds(interval: tuple[float, float], form: Form, digits: int | None = None) -> list[str]:
    """Format the two ends of an interval around values of a form."""
    scale, usual = (100, 1) if form.startswith("percent") else (1, 3)
    return [format_score(scale * end, usual if digits is None else digits) for end in interval]


def format_cell(cell: Cell | None, column: Column) -> str:
    """Format the value of a cell; empty if there is no cell."""
    return "" if cell is None else format_value(cell.value, cell.form or column.form, cell.digits)


def format_cell_interval(cell: Cell, column: Column) -> list[str]:
    """Format the two ends of the interval of a cell; empty if it has none."""
    return format_bounds(cell.interval, cell.form or column.form, cell.digits) if cell.interval else []


def with_minus_signs(number: str) -> str:
    """Replace the hyphen of a number by a minus sign, for pages and papers; programs could not parse it."""
    return number.replace("-", "\N{MINUS SIGN}")


def format_score(value: float, digits: int = 4) -> str:
    """Format a score: ".7080", "1.0957", "-.0312"; a dash for nan."""
    if math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return str(value)
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("0.", ".", 1) if text.removeprefix("-").startswith("0.") else text


def format_difference(value: float, digits: int = 4) -> str:
    """Format a difference with its sign: "+.0392"."""
    text = format_score(value, digits)
    return text if text.startswith(("-", NOTHING)) else f"+{text}"


def format_interval(low: float, high: float, digits: int = 3) -> str:
    """Format an interval: ".704 – .712"."""
    return f"{format_score(low, digits)} – {format_score(high, digits)}"


def format_p_value(p: float, digits: int = 3) -> str:
    """Format a p value: ".042", or "<.001" if three digits would be zeros."""
    smallest = 10**-digits
    return f"<{format_score(smallest, digits)}" if p < smallest else format_score(p, digits)


def single_line(text: str) -> str:
    """Return text from outside on one line, with line breaks, tabs and control characters as spaces.

    Joiners that emoji and some scripts need are kept.
    """
    return "".join(" " if _is_control(c) else c for c in text)


def _is_control(c: str) -> bool:
    return unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\u200c\u200d"


_FORMS: Mapping[Form, Callable[[float], str]] = {
    "score": format_score,
    "number": format_score,
    "rounded": lambda value: format_score(value, 2),
    "difference": format_difference,
    "effect": lambda value: format_difference(value, 3),
    "p": format_p_value,
    "percent": lambda value: format_score(100 * value, 1),
    "percent difference": lambda value: format_difference(100 * value, 1),
    "count": lambda value: f"{value:,.0f}",
}


# Small drawings of values with their intervals for table cells; decoration, as the numbers are shown as well.
#
# Drawings are as wide as their cell: positions are in percent.

SERIES = 8  # colors of systems
_LANE = 9  # between values of different systems, in pixels
_AXIS = 14  # below them
_ROW = 40  # height of a drawing in its own row
_MOST_STEPS, _MOST_AXIS_STEPS = 6, 3  # between ticks
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
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    if math.isclose(low, high, abs_tol=1e-9):  # equal but for rounding errors
        return ""
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
    """Draw a value as a point with its interval, on the axis of ``axis_drawing``, whose numbers have lines."""
    if not _is_drawn(cell) or low >= high:
        return ""
    low, high, ticks = _axis(low, high)
    lines = "".join(f'<line x1="{x}%" x2="{x}%" y1="0" y2="{_ROW}"/>' for x, _ in ticks)
    return _svg("interval", _ROW, lines + _dot(cell, low, high, _ROW / 2))


def axis_drawing(low: float, high: float) -> str:
    """Draw a narrow axis, from a round number up to ``low`` to one from ``high``."""
    if low >= high:
        return ""
    labels = (f'<text x="{x}%" y="{_AXIS - 3}">{label}</text>' for x, label in _axis(low, high)[2])
    return _svg("axis", _AXIS, "".join(labels))


def _axis(low: float, high: float) -> tuple[float, float, list[tuple[float, str]]]:
    """Return the ends of a narrow axis and its ticks, which include the ends."""
    for step in _round_steps((high - low) / _MOST_AXIS_STEPS):
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first <= _MOST_AXIS_STEPS:
            break
    ends = first * step, last * step
    return *ends, _labeled(range(first, last + 1), step, *ends)


def _is_drawn(cell: Cell) -> bool:
    return cell.interval is not None and all(map(math.isfinite, (*cell.interval, cell.value)))  # type: ignore[arg-type]


def _dot(cell: Cell, low: float, high: float, y: float) -> str:
    assert isinstance(cell.value, float)
    assert cell.interval is not None
    left, right, x = (_place(end, low, high) for end in (*cell.interval, cell.value))
    interval = f'<line class="interval" x1="{left}%" x2="{right}%" y1="{y:g}" y2="{y:g}"/>'
    return interval + f'<circle cx="{x}%" cy="{y:g}" r="3.5"/>'


def _place(value: float, low: float, high: float) -> float:
    """Return the position of a value, in percent of the width."""
    return round(_EDGE + (100 - 2 * _EDGE) * (value - low) / (high - low), 2)


def _ticks(low: float, high: float, scale: float) -> list[tuple[float, str]]:
    """Return the positions of round numbers of a scale, and their text."""
    low, high = scale * low, scale * high
    least = (high - low) / _MOST_STEPS
    step = next(step for step in _round_steps(least) if least <= step * (1 + 1e-9))
    return _labeled(range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1), step, low, high)


def _round_steps(least: float) -> Iterator[float]:
    """Yield round steps, from one that may be a little shorter."""
    power = math.floor(math.log10(least))
    return (factor * 10.0 ** (power + n) for n in count() for factor in (1, 2, 5))


def _labeled(multiples: range, step: float, low: float, high: float) -> list[tuple[float, str]]:
    """Return the positions of multiples of a step, and their text."""
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    labels = (with_minus_signs(format_score(n * step, digits)) if n else "0" for n in multiples)
    return [(_place(n * step, low, high), label) for n, label in zip(multiples, labels, strict=True)]


def _svg(kind: str, height: int, content: str) -> str:
    return f'<svg class="{kind}" width="100%" height="{height}" aria-hidden="true" focusable="false">{content}</svg>'


# What rich prints, as text and as HTML.

#: Columns with which no line is wrapped.
ANY_WIDTH = 10_000


def as_text(renderable: RenderableType, *, color: bool = False, width: int = ANY_WIDTH) -> str:
    """Render for rich, and return text without spaces at the ends of lines.

    Args:
        renderable: the object to print.
        color: include the escape sequences of a terminal.
        width: columns to wrap lines to; by default lines are as long as they need to be.
    """
    from rich.console import Console

    out = io.StringIO()
    # In a notebook, rich would write into the cell and leave the file empty.
    console = Console(
        file=out,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        force_jupyter=False,
    )
    console.print(renderable)
    return "".join(f"{_strip_end_blanks(line)}\n" for line in out.getvalue().splitlines())


def _strip_end_blanks(line: str) -> str:
    """Remove trailing spaces, even between escape sequences, which are kept."""
    return re.sub(r"(?: |\x1b\[[0-9;]*m)+$", lambda end: end[0].replace(" ", ""), line)


def as_html(renderable: RenderableType, *, width: int = 100) -> str:
    """Render for rich, and return HTML with its styles included.

    Args:
        renderable: the object to print.
        width: columns to wrap lines to.
    """
    from rich.console import Console

    console = Console(file=io.StringIO(), record=True, width=width, force_jupyter=False)
    console.print(renderable)
    text = console.export_html(inline_styles=True, code_format="{code}").rstrip()
    return f'<div class="captious"><pre style="line-height:1.3;overflow-x:auto">{text}</pre></div>'
