"""Drawings of numbers that fit into a line of text or a narrow column; decoration, as the numbers are shown as well."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

_LINE = (72, 20)  # width and height, in pixels
_BARS = 56  # height
_RADIUS = 2.5


def line_drawing(values: Sequence[float]) -> str:
    """Draw a time series as a line, with a point at its end. Empty for fewer than two values."""
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    width, height = (size - 2 * _RADIUS - 1 for size in _LINE)
    xs = [_RADIUS + width * i / (len(values) - 1) for i in range(len(values))]
    ys = [_LINE[1] / 2 if low == high else _LINE[1] - _RADIUS - height * (y - low) / (high - low) for y in values]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
    end = f'<circle cx="{xs[-1]:.1f}" cy="{ys[-1]:.1f}" r="{_RADIUS}"/>'
    size = f'width="{_LINE[0]}" height="{_LINE[1]}"'
    return f'<svg class="line" {size} aria-hidden="true" focusable="false"><polyline points="{points}"/>{end}</svg>'


def bars_drawing(counts: Sequence[int]) -> str:
    """Draw counts side by side as bars, the highest at full height; the drawing is as wide as there is room."""
    most, step = max(counts, default=0), 100 / max(len(counts), 1)
    if not most:
        return ""
    bars = "".join(
        f'<rect x="{step * i + 0.5:.2f}%" width="{step - 1:.2f}%" y="{_BARS - h:.1f}" height="{h:.1f}"/>'
        for i, count in enumerate(counts)
        if (h := _BARS * count / most)
    )
    return f'<svg class="bars" width="100%" height="{_BARS}" aria-hidden="true" focusable="false">{bars}</svg>'


def mark_drawing(name: str) -> str:
    """Draw a mark derived from a name: a symmetrical pattern of five by five squares, in a color of systems."""
    digest = hashlib.sha256(name.encode()).digest()
    squares = "".join(
        f'<rect x="{x}" y="{y}" width="1" height="1"/>'
        for y in range(5)
        for x in range(5)
        if digest[5 * y + min(x, 4 - x)] % 2
    )
    size = 'width="30" height="30" viewBox="0 0 5 5"'
    return f'<svg class="mark series-{digest[-1] % 3}" {size} aria-hidden="true" focusable="false">{squares}</svg>'
