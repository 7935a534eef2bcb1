"""Results of studies: a table of records and, optionally, curves, dots, a matrix or point clouds for plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.display import Displayed
from captious.version import __version__

__all__ = ["Cloud", "Clouds", "Curve", "Curves", "Dot", "Dots", "Matrix", "Study"]


@dataclass(frozen=True, eq=False)
class Curve:
    """A line.

    Args:
        x, y: float64[n].
        low, high: float64[n], a 95% interval around y, or None.
        points: draw it as points, not as a line.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    points: bool = False


@dataclass(frozen=True, eq=False)
class Curves:
    """Lines in one picture: label -> line. The axis of x can be logarithmic."""

    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, Curve]
    logarithmic: bool = False


@dataclass(frozen=True, eq=False)
class Matrix:
    """A number for every pair of labels, -1 to 1; float64[n, n]."""

    title: str
    labels: Sequence[str]
    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points of a plane.

    Args:
        points: float64[n, 2], those that are drawn.
        outline: float64[m, 2], a closed line around most of them.
        center: float64[2], the center of all points.
    """

    points: NDArray[np.float64]
    outline: NDArray[np.float64]
    center: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Clouds:
    """Clouds of points in one picture: label -> cloud. Both axes have the same unit."""

    title: str
    x_label: str
    y_label: str
    clouds: Mapping[str, Cloud]


@dataclass(frozen=True)
class Dot:
    """A value, and its 95% interval or None."""

    value: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Dots:
    """Values one below the other: label -> value. A line marks the first value."""

    title: str
    x_label: str
    rows: Mapping[str, Dot]


@dataclass(frozen=True, eq=False, repr=False)
class Study(Displayed):
    """The result of a study. Displayed as a table.

    Args:
        name: its name on the command line.
        title: one line that says what the table shows.
        columns: column names, in order; also the keys of the records.
        records: one per row of the table; numbers are fractions unless the column says otherwise.
        signatures: metric -> everything that its scores depend on besides the captions.
        data: files that were read: name -> CRC-32.
        settings: everything that the result depends on besides metrics and data: seed, sizes, strengths.
        pictures: curves, matrices, clouds and dots, by file name without extension.
        notes: sentences below the table.
        warnings: warnings about misleading results, one sentence each.
    """

    name: str
    title: str
    columns: Sequence[str]
    records: Sequence[Mapping[str, Any]]
    signatures: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    pictures: Mapping[str, Curves | Matrix | Clouds | Dots] = field(default_factory=dict)
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """The study as plain values, as in its JSON output."""
        return {
            "version": __version__,
            "study": self.name,
            "title": self.title,
            "settings": dict(self.settings),
            "data": dict(self.data),
            "signatures": dict(self.signatures),
            "records": [dict(record) for record in self.records],
            "notes": list(self.notes),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
        }
