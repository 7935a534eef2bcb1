"""Rounding of numbers on pages of phases that limit the decimal places of their scores."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray


def interval_digits(digits: int) -> int:
    """Decimal places of the ends of intervals, where scores have ``digits``.

    One fewer: the end of the interval of a score to which one image contributes lies about four times as far from 0.
    """
    return max(digits - 1, 1)


def p_digits(digits: int) -> int:
    """Decimal places of p values, where scores have ``digits``."""
    return min(digits, 3)


def effect_digits(digits: int) -> int:
    """Decimal places of effect sizes, where scores have ``digits``."""
    return min(digits, 2)


def rounded(value: float | None, digits: int) -> float | None:
    """A number with this many decimal places; None if there is none or it is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return round(value, digits) + 0.0  # no negative zero


def rounded_ends(low: float | None, high: float | None, digits: int) -> tuple[float | None, float | None]:
    """The ends of an interval around a number with this many decimal places: with one fewer, away from the number."""
    return _towards(low, ROUND_FLOOR, digits), _towards(high, ROUND_CEILING, digits)


def _towards(end: float | None, direction: str, digits: int) -> float | None:
    if end is None or not math.isfinite(end):
        return None
    step = Decimal(1).scaleb(-interval_digits(digits))
    return float(Decimal(repr(float(end))).quantize(step, direction)) + 0.0


def rounded_array(values: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Numbers rounded like a single one by ``rounded``, except that those that are not finite stay."""
    return np.asarray(np.round(values, digits) + 0.0)


def rounded_values(value: Any, digits: int) -> Any:
    """A JSON-compatible value with all its numbers rounded as by ``rounded``."""
    if isinstance(value, dict):
        return {key: rounded_values(entry, digits) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [rounded_values(entry, digits) for entry in value]
    return rounded(value, digits) if isinstance(value, float) else value
