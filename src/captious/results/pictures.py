"""Data of pictures of results: curves, values with intervals, rankings, matrices and point clouds.

``captious.report.plots`` draws them to files, and pages draw them as charts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Curve:
    """A line.

    Args:
        x, y: float64[n].
        low, high: float64[n], a 95% interval around y, or None.
        points: draw points instead of a line.
        names: a label for each point, shown beside it unless empty; none by default.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    points: bool = False
    names: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Curves:
    """Lines in one picture: label -> line. The x axis can be logarithmic."""

    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, Curve]
    logarithmic: bool = False


def scatter(
    title: str, x: NDArray[np.float64], y: NDArray[np.float64], names: Sequence[str], x_label: str, y_label: str
) -> Curves:
    """Build a picture with a labeled point for each system; float64[n] each."""
    return Curves(title, x_label, y_label, {"systems": Curve(x, y, points=True, names=names)})


@dataclass(frozen=True, eq=False)
class Matrix:
    """A number for every pair of labels, -1 to 1; float64[n, n]."""

    title: str
    labels: Sequence[str]
    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points in a plane.

    Args:
        points: float64[n, 2], the points to draw.
        outline: float64[m, 2], a closed line around most points.
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
    """A value, with its 95% interval or None."""

    value: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Dots:
    """Values in a column: label -> value. A line marks the first value, or another one."""

    title: str
    x_label: str
    rows: Mapping[str, Dot]
    line: float | None = None

    @property
    def marked(self) -> float | None:
        """The position of the line; None if there are no values."""
        if self.line is not None or not self.rows:
            return self.line
        return next(iter(self.rows.values())).value


@dataclass(frozen=True, eq=False)
class Ranking:
    """Values with their intervals and ranks, the best first: label -> value. Values of the same rank look alike.

    Args:
        title: the title.
        x_label: what the values are.
        rows: the values.
        ranks: the rank of each, None if unranked.
    """

    title: str
    x_label: str
    rows: Mapping[str, Dot]
    ranks: Sequence[int | None]


Picture: TypeAlias = Curves | Matrix | Clouds | Dots | Ranking
