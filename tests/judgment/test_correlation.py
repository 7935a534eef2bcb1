"""Correlations held against scipy's, computed again from scratch for every resample and every exchange."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from captious.judgment.correlation import BY_IMAGE, STATISTICS, Points, correlation, williams


def scipy_correlation(statistic: str, x: np.ndarray, y: np.ndarray) -> float:
    if statistic == "kendall-tau-b":
        return float(stats.kendalltau(x, y, variant="b").statistic)
    if statistic == "kendall-tau-c":
        return float(stats.kendalltau(x, y, variant="c").statistic)
    return float((stats.spearmanr if statistic == "spearman" else stats.pearsonr)(x, y).statistic)


@st.composite
def judged(draw: st.DrawFn) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray, int]:
    """Ratings, units and two metrics' scores of a few captions, with many ties; and a seed."""
    n = draw(st.integers(4, 25))
    few = st.integers(0, 5)
    ratings = [np.array(draw(st.lists(few, min_size=1, max_size=3)), float) for _ in range(n)]
    units = np.array(draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)))
    units = np.unique(units, return_inverse=True)[1]
    a, b = (np.array(draw(st.lists(few, min_size=n, max_size=n)), float) / 7 for _ in range(2))
    return ratings, units, a, b, draw(st.integers(0, 1000))


def varied(*arrays: np.ndarray) -> bool:
    return all(np.ptp(array) > 1e-9 for array in arrays)


@pytest.mark.parametrize("statistic", STATISTICS)
@given(case=judged())
def test_resampled_correlations_equal_scipy(
    statistic: str, case: tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray, int]
) -> None:
    ratings, units, scores, _, seed = case
    points = Points(ratings, units, statistic)
    n_units = points.n_units
    counts = np.random.default_rng(seed).multinomial(n_units, np.full(n_units, 1 / n_units), 5).astype(np.int32)
    found = points.resampled(scores, counts)
    sizes = [len(each) for each in ratings]
    for count, value in zip(counts, found, strict=True):
        rows = np.repeat(np.arange(len(scores)), count[units])
        x = np.concatenate([np.repeat(scores[row], sizes[row]) for row in rows])
        y = np.concatenate([ratings[row] for row in rows])
        if varied(x, y):
            assert value == pytest.approx(scipy_correlation(statistic, x, y), abs=1e-9)


@given(case=judged())
def test_correlation_by_image_averages_tau_b(
    case: tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray, int],
) -> None:
    """The mean of scipy's tau-b of each image, 0 where there is none; drawn and exchanged image by image."""
    ratings, units, a, b, seed = case
    points = Points(ratings, units, BY_IMAGE)

    def tau(unit: int, scores: np.ndarray) -> float:
        own = np.flatnonzero(units == unit)
        x, y = np.repeat(scores[own], [len(ratings[row]) for row in own]), np.concatenate([ratings[r] for r in own])
        return scipy_correlation("kendall-tau-b", x, y) if len(x) > 1 and varied(x, y) else 0.0

    of_a, of_b = (np.array([tau(unit, scores) for unit in range(points.n_units)]) for scores in (a, b))
    assert points.value(a) == pytest.approx(of_a.mean())
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(points.n_units, np.full(points.n_units, 1 / points.n_units), 5).astype(np.int32)
    assert points.resampled(a, counts) == pytest.approx(counts @ of_a / points.n_units)
    swaps = rng.integers(0, 2, (5, points.n_units), np.uint8)
    swapped = [np.where(swap, of_b, of_a).mean() - np.where(swap, of_a, of_b).mean() for swap in swaps]
    assert points.exchanged(a, b, swaps) == pytest.approx(np.array(swapped), abs=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS)
@given(case=judged())
def test_exchanged_correlations_equal_scipy(
    statistic: str, case: tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray, int]
) -> None:
    ratings, units, a, b, seed = case
    points = Points(ratings, units, statistic)
    swaps = np.random.default_rng(seed).integers(0, 2, (5, points.n_units), np.uint8)
    if not varied(a, b, points.ratings):
        return
    if statistic == "pearson":
        left, right = ((scores - scores.mean()) / scores.std() for scores in (a, b))
    else:
        left, right = (stats.rankdata(scores) for scores in (a, b))
    sizes = [len(each) for each in ratings]
    for swap, value in zip(swaps, points.exchanged(a, b, swaps), strict=True):
        here = swap[units] == 1
        first, second = np.where(here, right, left), np.where(here, left, right)
        if varied(first, second):
            x, y = (np.repeat(scores, sizes) for scores in (first, second))
            expected = scipy_correlation(statistic, x, points.ratings) - scipy_correlation(statistic, y, points.ratings)
            assert value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_exchanging_nothing_or_all_gives_the_difference_or_its_opposite(statistic: str) -> None:
    rng = np.random.default_rng(5)
    a, b, ratings = rng.random(60), rng.random(60), rng.integers(0, 5, 60).astype(float)
    points = Points([np.array([rating]) for rating in ratings], np.arange(60), statistic)
    swaps = np.stack([np.zeros(60, np.uint8), np.ones(60, np.uint8)])
    difference = points.value(a) - points.value(b)
    np.testing.assert_allclose(points.exchanged(a, b, swaps), [difference, -difference], atol=1e-12)


@pytest.mark.parametrize("shift", [2.0**20, -(2.0**21)])
def test_scores_far_from_zero_keep_their_correlation(shift: float) -> None:
    """Sums of squares would lose all digits of the differences; all numbers here are exact in binary."""
    rng = np.random.default_rng(2)
    scores, other, ratings = rng.integers(0, 1 << 10, (3, 40)) / 1024
    points = Points([np.array([rating]) for rating in ratings], np.arange(40), "pearson")
    moved = Points([np.array([rating + shift]) for rating in ratings], np.arange(40), "pearson")
    counts = rng.multinomial(40, np.full(40, 1 / 40), 20).astype(np.int32)
    expected = points.resampled(scores, counts)
    assert moved.resampled(scores + shift, counts) == pytest.approx(expected, abs=1e-12)
    assert points.resampled(scores + shift, counts) == pytest.approx(expected, abs=1e-12)
    assert moved.resampled(scores, counts) == pytest.approx(expected, abs=1e-12)
    swaps = rng.integers(0, 2, (20, 40), np.uint8)
    exchanged = moved.exchanged(scores + shift, other - 3 * shift, swaps)
    assert exchanged == pytest.approx(points.exchanged(scores, other, swaps), abs=1e-9)


@pytest.mark.parametrize("threads", ["1", "2", "7"])
def test_threads_do_not_change_a_bit(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    ratings = [rng.integers(0, 4, 3).astype(float) for _ in range(300)]
    points = Points(ratings, rng.permutation(300) % 50, "kendall-tau-b")
    scores, counts = rng.random(300), rng.multinomial(50, np.full(50, 0.02), 100).astype(np.int32)
    monkeypatch.setenv("CAPTIOUS_THREADS", "3")
    expected = points.resampled(scores, counts)
    monkeypatch.setenv("CAPTIOUS_THREADS", threads)
    assert points.resampled(scores, counts).tobytes() == expected.tobytes()


def test_constant_sides_have_no_correlation() -> None:
    for statistic in STATISTICS:
        assert np.isnan(correlation(statistic, np.ones(5), np.arange(5.0)))
        assert np.isnan(correlation(statistic, np.arange(5.0), np.ones(5)))


def test_williams_test_of_known_values() -> None:
    # Steiger 1980's formula by hand: n = 103, r = .4, .5 and .1 between the two.
    r_a, r_b, r_ab, n = 0.4, 0.5, 0.1, 103
    determinant = 1 - r_a**2 - r_b**2 - r_ab**2 + 2 * r_a * r_b * r_ab
    mean = (r_a + r_b) / 2
    t = (r_a - r_b) * np.sqrt(
        (n - 1) * (1 + r_ab) / (2 * ((n - 1) / (n - 3)) * determinant + mean**2 * (1 - r_ab) ** 3)
    )
    assert williams(r_a, r_b, r_ab, n) == pytest.approx(2 * stats.t.cdf(t, n - 3))
    assert williams(r_a, r_b, r_ab, n) == williams(r_b, r_a, r_ab, n)
    assert williams(0.4, 0.4, 0.3, n) == 1.0
    assert williams(0.4, 0.4, 1.0, n) == 1.0
    assert np.isnan(williams(0.1, 0.2, 0.3, 3))


def test_williams_test_keeps_its_level() -> None:
    """Two metrics that are equally good: p below .05 in about one case of twenty."""
    rng = np.random.default_rng(0)
    below = 0
    for _ in range(400):
        human = rng.normal(size=40)
        a, b = human + rng.normal(size=40), human + rng.normal(size=40)
        r = np.corrcoef([human, a, b])
        below += williams(r[0, 1], r[0, 2], r[1, 2], 40) < 0.05
    assert 8 <= below <= 34
