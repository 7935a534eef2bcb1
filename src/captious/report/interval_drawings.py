"""Small drawings of values with their intervals for table cells; decoration, as the numbers are shown as well.

Drawings are as wide as their cell: positions are in percent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from captious.report import numbers
from captious.results.table import Cell, Form

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
