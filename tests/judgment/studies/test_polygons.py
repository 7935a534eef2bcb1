"""captious.judgment.studies.sources: areas and overlaps against counted points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from captious.judgment.studies.distributions import area, clipped, ellipse, overlap

SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])


def inside(polygon: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which points lie left of every edge."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    away = points[:, None] - polygon[None]
    return np.asarray((edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0] >= 0).all(axis=1))


def cloud(rng: np.random.Generator) -> NDArray[np.float64]:
    return np.asarray(rng.normal(size=(30, 2)) @ rng.normal(size=(2, 2)) + rng.normal(size=2))


def around(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return ellipse(points[:, 0], points[:, 1], 1.15)


@pytest.mark.parametrize(
    ("moved", "share"), [((0, 0), 1), ((1, 0), 0.5), ((1, 1), 0.25), ((2, 0), 0), ((5, 5), 0), ((-1.5, 0), 0.25)]
)
def test_overlap_of_shifted_squares(moved: tuple[float, float], share: float) -> None:
    assert area(SQUARE) == 4
    assert overlap(SQUARE, SQUARE + moved) == pytest.approx(share, abs=1e-15)


def test_overlap_of_nested_squares() -> None:
    small = SQUARE / 2 + 0.5
    assert overlap(SQUARE, small) == pytest.approx(1)
    assert overlap(small, SQUARE) == pytest.approx(0.25)
    assert len(clipped(SQUARE + 9, SQUARE)) == 0


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_overlap_of_ellipses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (around(cloud(rng)) for _ in range(2))
    low, high = second.min(axis=0), second.max(axis=0)
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 120).T), axis=-1).reshape(-1, 2)
    within = inside(second, grid)
    wanted = (inside(first, grid) & within).sum() / within.sum()
    assert overlap(first, second) == pytest.approx(wanted, abs=0.05)
    assert overlap(first, second) * area(second) == pytest.approx(overlap(second, first) * area(first), abs=1e-9)


def test_an_ellipse_is_that_of_the_covariance() -> None:
    points = cloud(np.random.default_rng(1))
    outline = around(points)
    assert outline.shape == (64, 2)
    away = outline - points.mean(axis=0)
    distance = np.einsum("ij,jk,ik->i", away, np.linalg.inv(np.cov(points.T)), away)
    np.testing.assert_allclose(np.sqrt(distance), 1.15, rtol=1e-10)
    full = np.pi * 1.15**2 * np.sqrt(np.linalg.det(np.cov(points.T)))
    assert area(outline) == pytest.approx(full * np.sin(2 * np.pi / 64) * 32 / np.pi)


def test_points_on_a_line_have_no_ellipse() -> None:
    line = np.arange(5.0)
    flat = ellipse(line, np.ones(5), 1.15)
    assert np.isfinite(flat).all()
    assert np.isnan(overlap(SQUARE, flat))
