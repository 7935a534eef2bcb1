"""Checks of metric parameters: a value in its range, or a ParameterError that names the range."""

from __future__ import annotations

from numbers import Integral, Real

from captious.errors import ParameterError

__all__ = ["LARGE", "number", "truth", "whole"]

#: The limit of ranges that have no other: larger values add nothing, and their powers may overflow.
LARGE = 1_000_000


def number(metric: str, name: str, value: object, least: float, most: float, *, below: bool = False) -> float:
    """A number from ``least`` to ``most``, or to below ``most``.

    Raises:
        ParameterError: a number outside of the range, NaN, or something else.
    """
    fits = isinstance(value, Real) and not isinstance(value, bool)
    if not (fits and least <= value <= most) or (below and value == most):  # type: ignore[operator]
        end = f"below {most:,}" if below else f"{most:,}"
        raise ParameterError(
            f"invalid {name} for {metric}: {value!r}", help=f"{name} must be a number from {least:,} to {end}"
        )
    return float(value)  # type: ignore[arg-type]


def whole(metric: str, name: str, value: object, least: int, most: int = LARGE) -> int:
    """An integer from ``least`` to ``most``.

    Raises:
        ParameterError: a number outside of the range, or something else.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) <= most:
        raise ParameterError(
            f"invalid {name} for {metric}: {value!r}", help=f"{name} must be an integer from {least:,} to {most:,}"
        )
    return int(value)


def truth(metric: str, name: str, value: object) -> bool:
    """True or False.

    Raises:
        ParameterError: something else.
    """
    if not isinstance(value, bool):
        raise ParameterError(f"invalid {name} for {metric}: {value!r}", help=f"{name} must be True or False")
    return value
