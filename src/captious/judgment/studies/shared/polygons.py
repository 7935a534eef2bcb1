"""Convex polygons: ellipses of point clouds, and overlaps of polygons."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Corners of the polygon that stands for an ellipse.
_CORNERS = 64


def ellipse(x: NDArray[np.float64], y: NDArray[np.float64], deviations: float) -> NDArray[np.float64]:
    """Return the ellipse of a number of standard deviations around the mean of points, as a polygon float64[64, 2].

    Its axes are those of the sample covariance after scaling both coordinates to variance 1.

    Args:
        x, y: float64[n], n at least 2. Collinear points give a polygon without area.
    """
    angle = np.arange(_CORNERS) * 2 * np.pi / _CORNERS
    covariance = np.cov(x, y)
    sigma = np.sqrt(np.diag(covariance))
    product = float(sigma[0] * sigma[1])
    r = float(np.clip(covariance[0, 1] / product, -1, 1)) if product > 0 else 0.0
    along, across = np.sqrt(1 + r) * np.cos(angle), np.sqrt(1 - r) * np.sin(angle)
    turned = np.stack([along - across, along + across], axis=1) / np.sqrt(2)
    return np.asarray(turned * sigma * deviations + (x.mean(), y.mean()))


def area(polygon: NDArray[np.float64]) -> float:
    """Return the area of a polygon float64[n, 2]; positive if its vertices are counter-clockwise."""
    x, y = polygon.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def clipped(subject: NDArray[np.float64], clip: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the intersection of two convex polygons with counter-clockwise vertices, float64[n, 2], possibly empty.

    Sutherland and Hodgman 1974: the subject is clipped at each edge of the other polygon in turn.
    """
    for start, end in zip(clip, np.roll(clip, -1, axis=0), strict=True):
        if not len(subject):
            break
        dx, dy = end - start
        side = dx * (subject[:, 1] - start[1]) - dy * (subject[:, 0] - start[0])  # left of the edge is inside
        after, next_side = np.roll(subject, -1, axis=0), np.roll(side, -1)
        crosses = (side < 0) != (next_side < 0)
        share = np.divide(side, side - next_side, out=np.zeros_like(side), where=crosses)
        crossing = subject + share[:, None] * (after - subject)
        corners = np.stack([subject, crossing], axis=1).reshape(-1, 2)
        subject = corners[np.stack([side >= 0, crosses], axis=1).ravel()]
    return subject


def overlap(reference: NDArray[np.float64], polygon: NDArray[np.float64]) -> float:
    """Return the share of a convex polygon's area that lies in the reference; NaN for a polygon without area."""
    whole = area(polygon)
    if whole <= 0:
        return float("nan")
    common = clipped(polygon, reference)
    return area(common) / whole if len(common) else 0.0
