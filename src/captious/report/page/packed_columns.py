"""Arrays inside a page: narrowed, deflated and base64-encoded, each in an element of its own that is unpacked on
demand.

A plain dictionary in the manifest describes a column: the number of its element, its type, and how it was arranged
before compression. ``assets/columns.js`` reads it.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: The entry of a column in the manifest.
Column: TypeAlias = dict[str, Any]

_INTEGERS = (np.uint8, np.uint16, np.uint32, np.int32)
_NO_NUMBER = -(2**31)  # stands for nan
_DIGITS = 4  # after the point, as scores are shown


class Columns:
    """The columns of one page, in the order in which they were added."""

    def __init__(self) -> None:
        self._packed: list[str] = []

    def __iter__(self) -> Iterator[str]:
        """Yield the content of each element: base64, which needs no escapes in HTML."""
        return iter(self._packed)

    def integers(self, values: ArrayLike) -> Column:
        """Pack integers from -2^31 + 1 to 2^32 - 1, in the narrowest type that holds them; any shape, flattened."""
        array = np.asarray(values).ravel()
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        kind = next(t for t in _INTEGERS if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
        return self._add(array.astype(kind))

    def numbers(self, values: NDArray[np.float64]) -> Column:
        """Pack numbers with four decimals, or more if all are small; nan is kept.

        Numbers that cannot be packed like this, such as infinities, are stored as they are.
        """
        sizes = np.abs(values[~np.isnan(values)])
        most = float(sizes.max(initial=0))
        digits = _DIGITS
        if 0 < most < 0.1:
            digits += min(int(-np.floor(np.log10(most))) - 1, 8)
        if not most * 10**digits < 2**31 - 1:
            return self._add(np.asarray(values, np.float64))
        scaled = np.where(np.isnan(values), _NO_NUMBER, np.round(np.nan_to_num(values) * 10**digits))
        return {**self._add(scaled.astype(np.int32), planes=True), "digits": digits}

    def strings(self, texts: Sequence[str]) -> Column:
        """Pack strings: concatenated as UTF-8, with their lengths as the page counts them, in UTF-16 units."""
        joint_text = "".join(texts)
        lengths = np.fromiter((len(text) for text in texts), np.int64, len(texts))
        if not joint_text.isascii():
            wide = (sum(c > "\uffff" for c in text) if not text.isascii() else 0 for text in texts)
            lengths = lengths + np.fromiter(wide, np.int64, len(texts))
        raw = np.frombuffer(joint_text.encode("utf-8", "replace"), np.uint8)
        return {"text": self._add(raw), "lengths": self.integers(lengths)}

    def lists(self, rows: Iterable[Sequence[int]]) -> Column:
        """Pack lists of integers of any length."""
        lists = [*rows]
        flat = [value for row in lists for value in row]
        return {"counts": self.integers([len(row) for row in lists]), "values": self.integers(flat)}

    def _add(self, array: NDArray[Any], *, planes: bool = False) -> Column:
        """Pack an array; ``planes`` puts the first bytes of all values before all second ones, and so on."""
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        raw = array.tobytes()
        if planes:
            raw = array.view(np.uint8).reshape(-1, array.itemsize).T.tobytes()
        self._packed.append(base64.b64encode(zlib.compress(raw, 9)).decode("ascii"))
        column: Column = {"column": len(self._packed) - 1, "type": f"{array.dtype.kind}{array.itemsize}"}
        return {**column, "planes": True} if planes else column
