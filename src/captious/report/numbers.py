"""How numbers look: four digits, no zero before the point, and rows of a table as text cells."""

from __future__ import annotations

import math

__all__ = ["p_value", "score", "signed", "span"]


def score(value: float, digits: int = 4) -> str:
    """A score: ".7080", "1.0957", "-.0312"."""
    if not math.isfinite(value):
        return str(value)
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("0.", ".", 1) if text.removeprefix("-").startswith("0.") else text


def signed(value: float, digits: int = 4) -> str:
    """A difference, with its sign: "+.0392"."""
    text = score(value, digits)
    return text if text.startswith("-") else f"+{text}"


def span(low: float, high: float, digits: int = 3) -> str:
    """An interval: ".704 – .712"."""
    return f"{score(low, digits)} – {score(high, digits)}"


def p_value(p: float) -> str:
    """A p value: ".042", or "<.001" where three digits would be zeros."""
    return "<.001" if p < 0.001 else score(p, 3)
