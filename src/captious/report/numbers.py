"""Formatting of numbers and names: four digits, no zero before the decimal point; no control characters."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping
from numbers import Integral, Real

from captious.tables import Cell, Column, Form

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
