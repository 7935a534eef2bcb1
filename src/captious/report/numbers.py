"""How numbers and names look: four digits, no zero before the point; names without control characters."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

__all__ = ["LOWER_IS_BETTER", "best", "labelled", "p_value", "plain", "score", "signed", "span"]

#: What tables put after the name of an output of which lower scores are better.
LOWER_IS_BETTER = "↓"


def labelled(name: str, lower_is_better: bool | None) -> str:
    """The name of an output, marked if lower scores are better."""
    return f"{name} {LOWER_IS_BETTER}" if lower_is_better else name


def best(scores: Sequence[float], lower_is_better: bool | None) -> float | None:
    """The best of several scores; None if all are equal, or if neither higher nor lower ones are better."""
    if lower_is_better is None or not min(scores) < max(scores):
        return None
    return min(scores) if lower_is_better else max(scores)


def score(value: float, digits: int = 4) -> str:
    """A score: ".7080", "1.0957", "-.0312"; a dash where there is none (nan)."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return str(value)
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("0.", ".", 1) if text.removeprefix("-").startswith("0.") else text


def signed(value: float, digits: int = 4) -> str:
    """A difference, with its sign: "+.0392"."""
    text = score(value, digits)
    return text if text.startswith(("-", "–")) else f"+{text}"


def span(low: float, high: float, digits: int = 3) -> str:
    """An interval: ".704 – .712"."""
    return f"{score(low, digits)} – {score(high, digits)}"


def p_value(p: float) -> str:
    """A p value: ".042", or "<.001" where three digits would be zeros."""
    return "<.001" if p < 0.001 else score(p, 3)


def plain(text: str) -> str:
    """Text from outside on one line: line breaks, tabs and control characters as spaces.

    The joiners that emoji and some scripts need stay.
    """
    return "".join(" " if _is_control(c) else c for c in text)


def _is_control(c: str) -> bool:
    return unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\u200c\u200d"
