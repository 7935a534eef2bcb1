"""Exact sums of statistics: bit-identical for any order of rows and any division into parts.

Floating-point sums depend on the order of addition, and so on how a corpus is split. Here, a sum is an integer multiple
of the smallest unit of a float64. Integers are added without rounding; only the final sum is rounded, once, to the
nearest float64.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DIGITS = 53  # bits of a float64's mantissa
_UNIT = 1126  # every float64 is a multiple of 2**-1126: the smallest exponent of frexp is -1073
_HALF = 27  # bits of the lower half of a mantissa
_ROWS = 1 << 25  # sums of this many halves fit a float64
_WHOLE = 2.0**53  # whole numbers up to this are exact
_TEXT = re.compile(r"(-?[0-9a-f]{1,1000})(?:p(-[0-9]{1,4}))?")


@dataclass(frozen=True)
class ExactSums:
    """Sums of k columns, each an integer multiple of 2**-1126, or nan or infinity if the column contains such numbers.

    Sums are added with ``+``; addition is exactly associative and commutative.
    """

    units: tuple[Any, ...]

    @classmethod
    def zero(cls, k: int) -> ExactSums:
        """Return the sum of no rows of k columns."""
        return cls((0,) * k)

    @classmethod
    def of(cls, rows: NDArray[np.float64]) -> ExactSums:
        """Return the sum of rows, float64[n, k]."""
        finite = [bool(column) for column in np.atleast_1d(np.isfinite(rows).all(axis=0))]
        if not all(finite):
            exact = iter(cls.of(rows[:, finite]).units)
            return cls(
                tuple(next(exact) if is_finite else float(rows[:, j].sum()) for j, is_finite in enumerate(finite))
            )
        units = [0] * rows.shape[1]
        for start in range(0, len(rows), _ROWS):
            part = rows[start : start + _ROWS]
            whole = _are_whole(part)
            sums = part.sum(axis=0)
            for j in range(rows.shape[1]):
                units[j] += int(sums[j]) << _UNIT if whole[j] else _units(part[:, j])
        return cls(tuple(units))

    def __add__(self, other: ExactSums) -> ExactSums:
        return ExactSums(tuple(_added(a, b) for a, b in zip(self.units, other.units, strict=True)))

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self.units)

    @property
    def values(self) -> NDArray[np.float64]:
        """The sums, each rounded once to the nearest float64: float64[k]."""
        one = 1 << _UNIT
        return np.array([units if isinstance(units, float) else units / one for units in self.units], np.float64)

    def to_text(self) -> list[str]:
        """Return the sums as exact text, such as "1b" for 27 and "3p-2" for 0.75: hexadecimal digits and a power of 2.

        Raises:
            ValueError: a sum that is not finite.
        """
        return [_text(units) for units in self.units]

    @classmethod
    def from_text(cls, texts: Iterable[str]) -> ExactSums:
        """Parse the result of ``to_text``.

        Raises:
            ValueError: invalid text.
        """
        return cls(tuple(map(_parse_sum, texts)))


def column_sums(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return correctly rounded sums of rows, float64[n, k] to float64[k], which do not depend on the order of rows."""
    return ExactSums.of(rows).values


def _added(a: Any, b: Any) -> Any:
    """Add two columns; numbers that are not finite are floats, and absorb all integers."""
    if isinstance(a, float) or isinstance(b, float):
        return (a if isinstance(a, float) else 0.0) + (b if isinstance(b, float) else 0.0)
    return a + b


def _are_whole(rows: NDArray[np.float64]) -> Sequence[bool]:
    """Return a mask of the columns of whole numbers whose sums are exact in any order."""
    if not len(rows):
        return [True] * rows.shape[1]
    whole = (rows[:100] == np.rint(rows[:100])).all(axis=0)  # spares a longer look at most columns that are not
    columns = rows[:, whole]
    whole[whole] = (columns == np.rint(columns)).all(axis=0) & (np.abs(columns).max(axis=0) * len(rows) <= _WHOLE)
    return whole.tolist()  # type: ignore[no-any-return]


def _units(numbers: NDArray[np.float64]) -> int:
    """Return the exact sum of at most ``_ROWS`` numbers."""
    mantissas, exponents = np.frexp(numbers)
    digits = np.ldexp(mantissas, _DIGITS).astype(np.int64)
    lowest = int(exponents.min())
    at = exponents - lowest
    high = np.bincount(at, weights=digits >> _HALF)
    low = np.bincount(at, weights=digits & ((1 << _HALF) - 1))
    total = 0
    for place in np.flatnonzero((high != 0) | (low != 0)).tolist():
        total += ((int(high[place]) << _HALF) + int(low[place])) << place
    shift = lowest - _DIGITS + _UNIT
    return total << shift if shift >= 0 else total >> -shift


def _text(units: Any) -> str:
    if isinstance(units, float):
        raise ValueError(f"{units} has no exact text")
    if units == 0:
        return "0"
    zeros = (units & -units).bit_length() - 1
    if zeros >= _UNIT:
        return f"{units >> _UNIT:x}"
    return f"{units >> zeros:x}p{zeros - _UNIT}"


def _parse_sum(text: str) -> int:
    match = _TEXT.fullmatch(text)
    if match is None or (power := int(match[2] or 0)) < -_UNIT:
        raise ValueError(f"{text!r:.60} is not an exact sum")
    return int(match[1], 16) << (power + _UNIT)
