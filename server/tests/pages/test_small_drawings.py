"""Small drawings of numbers and names on pages."""

from __future__ import annotations

import re

from captious_server.templatetags.captious_pages import bars_drawing, line_drawing, mark_drawing


def points(svg: str) -> list[list[float]]:
    [found] = re.findall(r'points="([^"]+)"', svg)
    return [[*map(float, pair.split(","))] for pair in found.split()]


def test_line_rises_with_its_values() -> None:
    (x0, y0), (x1, y1), (x2, y2) = points(line_drawing([1.0, 3.0, 2.0]))
    assert x0 < x1 < x2
    assert y0 > y2 > y1  # downwards


def test_equal_values_are_in_the_middle_and_single_ones_are_not_drawn() -> None:
    assert {y for _, y in points(line_drawing([1.0, 1.0]))} == {10.0}
    assert line_drawing([1.0]) == line_drawing([]) == ""


def test_bars_are_as_high_as_their_counts() -> None:
    heights = [float(height) for height in re.findall(r' height="([\d.]+)"/>', bars_drawing([1, 0, 2]))]
    assert heights == [28.0, 56.0]
    assert bars_drawing([]) == bars_drawing([0, 0]) == ""


def test_a_mark_depends_on_the_name_only_and_is_symmetrical() -> None:
    assert mark_drawing("demo") == mark_drawing("demo") != mark_drawing("other")
    squares = {(int(x), int(y)) for x, y in re.findall(r'x="(\d)" y="(\d)"', mark_drawing("demo"))}
    assert squares == {(4 - x, y) for x, y in squares}
