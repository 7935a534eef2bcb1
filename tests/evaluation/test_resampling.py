"""Resampling as matrix products, held against loops over the same random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from captious.errors import ParameterError
from captious.evaluation import resampling
from captious.evaluation.resampling import (
    MOST_RESAMPLES,
    bootstrap_sums,
    check_sampling,
    exchange_sums,
    interval,
)

shapes = st.tuples(st.integers(1, 40), st.integers(1, 4))
seeds = st.integers(0, 2**32)


def some_statistics(n: int, k: int = 3, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(n, k))


def bootstrap_loop(statistics: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """Draw n images with replacement and add up their rows, one after the other."""
    n, k = statistics.shape
    rng = np.random.default_rng(seed)
    sums = np.zeros((resamples, k))
    for resample in range(resamples):
        for image in rng.integers(0, n, n, dtype=np.int32):
            sums[resample] += statistics[image]
    return sums


def exchange_loop(difference: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """Toss a coin for every image and add up the rows of those that come up heads."""
    n, k = difference.shape
    rng = np.random.default_rng(seed)
    sums = np.zeros((resamples, k))
    for resample in range(resamples):
        coins = "".join(f"{byte:08b}" for byte in rng.bytes((n + 7) // 8))
        for image in range(n):
            if coins[image] == "1":
                sums[resample] += difference[image]
    return sums


@given(shapes, st.integers(1, 12), seeds)
def test_bootstrap_sums_are_those_of_a_loop(shape: tuple[int, int], resamples: int, seed: int) -> None:
    statistics = some_statistics(*shape)
    sums = bootstrap_sums(statistics, resamples=resamples, seed=seed)
    np.testing.assert_allclose(sums, bootstrap_loop(statistics, resamples, seed), atol=1e-12)


@given(shapes, st.integers(1, 12), seeds)
def test_exchange_sums_are_those_of_a_loop(shape: tuple[int, int], resamples: int, seed: int) -> None:
    difference = some_statistics(*shape)
    sums = exchange_sums(difference, resamples=resamples, seed=seed)
    np.testing.assert_allclose(sums, exchange_loop(difference, resamples, seed), atol=1e-12)


@pytest.mark.parametrize("function", [bootstrap_sums, exchange_sums])
@pytest.mark.parametrize("elements", [1, 17, 60, 1000])
def test_block_size_does_not_matter(function, elements: int, monkeypatch: pytest.MonkeyPatch) -> None:
    statistics = some_statistics(20)
    whole = function(statistics, resamples=31, seed=7)
    monkeypatch.setattr(resampling, "_BLOCK_ELEMENTS", elements)
    np.testing.assert_allclose(function(statistics, resamples=31, seed=7), whole, rtol=0, atol=1e-13)


@pytest.mark.parametrize("function", [bootstrap_sums, exchange_sums])
def test_seed_alone_decides(function) -> None:
    statistics = some_statistics(50)
    first = function(statistics, resamples=40, seed=3)
    assert np.array_equal(first, function(statistics, resamples=40, seed=3))
    assert not np.array_equal(first, function(statistics, resamples=40, seed=4))


@pytest.mark.parametrize("function", [bootstrap_sums, exchange_sums])
def test_more_resamples_begin_like_fewer(function) -> None:
    statistics = some_statistics(50)
    more = function(statistics, resamples=40, seed=3)
    np.testing.assert_allclose(function(statistics, resamples=10, seed=3), more[:10], rtol=0, atol=1e-13)


def test_two_systems_see_the_same_images() -> None:
    """Counts of drawn images depend on the seed and the number of images only, not on what is summed."""
    a, b = some_statistics(30, 2, seed=1), some_statistics(30, 5, seed=2)
    both = bootstrap_sums(np.hstack([a, b]), resamples=20, seed=9)
    np.testing.assert_allclose(bootstrap_sums(a, resamples=20, seed=9), both[:, :2], atol=1e-12)
    np.testing.assert_allclose(bootstrap_sums(b, resamples=20, seed=9), both[:, 2:], atol=1e-12)


def test_bootstrap_draws_as_many_images_as_there_are() -> None:
    sums = bootstrap_sums(np.ones((37, 1)), resamples=50, seed=0)
    assert (sums == 37).all()


def test_bootstrap_varies_around_the_sum_as_theory_says() -> None:
    """Mean n m and variance n s^2 of a sum of n independent draws; every image is drawn alike."""
    n, resamples = 25, 20_000
    statistics = some_statistics(n, 1)
    sums = bootstrap_sums(statistics, resamples=resamples, seed=5)[:, 0]
    variance = n * statistics.var()
    assert abs(sums.mean() - statistics.sum()) < 4 * np.sqrt(variance / resamples)
    assert sums.var() == pytest.approx(variance, rel=0.05)
    counts = bootstrap_sums(np.eye(n), resamples=resamples, seed=5).mean(axis=0)
    assert np.abs(counts - 1).max() < 5 / np.sqrt(resamples)


def test_exchange_takes_every_image_half_of_the_time() -> None:
    n, resamples = 19, 20_000  # 19: the bits of the last byte are not all used
    moved = exchange_sums(np.eye(n), resamples=resamples, seed=5)
    assert set(np.unique(moved)) == {0.0, 1.0}
    assert np.abs(moved.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(resamples)
    off_diagonal = np.corrcoef(moved.T)[~np.eye(n, dtype=bool)]
    assert np.abs(off_diagonal).max() < 5 / np.sqrt(resamples)


def test_interval_is_of_percentiles() -> None:
    values = np.arange(101.0)
    assert interval(values, 0.9).tolist() == pytest.approx([5, 95])
    assert interval(np.stack([values, 2 * values], axis=1), 0.5) == pytest.approx(np.array([[25, 50], [75, 150]]))
    gaps = np.concatenate([values, [np.nan] * 7])
    assert interval(gaps, 0.9).tolist() == pytest.approx([5, 95])
    assert interval(np.stack([gaps, 2 * gaps], axis=1), 0.5) == pytest.approx(np.array([[25, 50], [75, 150]]))
    assert np.isnan(interval(np.full(3, np.nan), 0.5)).all()


@pytest.mark.parametrize("resamples", [0, -1, MOST_RESAMPLES + 1, 99_999_999_999_999, 1.5, "10", None])
def test_numbers_of_resamples(resamples: object) -> None:
    with pytest.raises(ParameterError, match="is not a number of resamples") as caught:
        check_sampling(resamples, 0)
    assert "1,000,000" in caught.value.help
    check_sampling(1, 0)
    check_sampling(MOST_RESAMPLES, 0)


@pytest.mark.parametrize("n", [1, 7, 300])
def test_counts_that_are_kept_are_those_that_are_drawn(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit, whatever was resampled before."""
    kept = [bootstrap_sums(some_statistics(n, seed=k), resamples=20, seed=5) for k in range(3)]
    monkeypatch.setattr(resampling, "_MOST_KEPT", 0)
    drawn = [bootstrap_sums(some_statistics(n, seed=k), resamples=20, seed=5) for k in range(3)]
    np.testing.assert_array_equal(kept, drawn)
