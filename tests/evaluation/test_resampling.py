"""Resampling as matrix products, compared with loops over the same random numbers; p values."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

import captious
from captious import statistics as resampling
from captious.errors import ParameterError
from captious.judgment import judge, studies
from captious.learned.training.examples import make_examples
from captious.metrics.contract.metric import Metric
from captious.statistics import (
    DEFAULT_SEED,
    MOST_RESAMPLES,
    Sampling,
    bootstrap_p_value,
    bootstrap_sums,
    exchange_sums,
    interval,
    permutation_p_value,
    ranks,
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
def test_seed_alone_determines_resamples(function) -> None:
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


@pytest.mark.parametrize("resamples", [0, -1, MOST_RESAMPLES + 1, 99_999_999_999_999, 1.5, "10", None, True])
def test_invalid_numbers_of_resamples_are_refused(resamples: Any) -> None:
    with pytest.raises(ParameterError, match="is not a number of resamples") as caught:
        Sampling(resamples)
    assert "1,000,000" in caught.value.hint


@pytest.mark.parametrize("seed", [-1, 0.5, "1", None, False, np.int64(-1)])
def test_invalid_random_seeds_are_refused(seed: Any) -> None:
    with pytest.raises(ParameterError, match="is not a random seed"):
        Sampling(seed=seed)


@pytest.mark.parametrize("level", [0, 1, -0.5, 2, float("nan"), "0.95", None, True])
def test_invalid_confidence_levels_are_refused(level: Any) -> None:
    with pytest.raises(ParameterError, match="is not a confidence level"):
        Sampling(level=level)


def test_numbers_of_numpy_become_plain_ones() -> None:
    """So that they can be written as JSON."""
    sampling = Sampling(np.int64(MOST_RESAMPLES), np.uint32(7), np.float32(0.5))
    values = (sampling.resamples, sampling.seed, sampling.level)
    assert values == (MOST_RESAMPLES, 7, 0.5)
    assert [*map(type, values)] == [int, int, float]


def test_functions_with_a_seed_have_the_same_default() -> None:
    functions = [captious.compare, judge, captious.write_report, make_examples, Metric.fit_resource]
    functions += [study for name in studies.__all__ if "seed" in signature(study := getattr(studies, name)).parameters]
    assert len(functions) > 12
    assert {signature(function).parameters["seed"].default for function in functions} == {DEFAULT_SEED}


METHODS = pytest.mark.parametrize("method", ["counted", "normal"])


class TestBootstrapPValues:
    def test_counted_p_value_is_a_share_of_resamples(self) -> None:
        """Three of nine resamples are as far from the difference as that is from zero; it is itself the tenth."""
        resampled = 0.5 + np.array([0.5, -0.5, 0.6, 0.1, 0.2, -0.1, -0.2, 0.3, -0.4])
        assert bootstrap_p_value(0.5, resampled, scale=1) == 0.4

    def test_normal_p_value_uses_the_standard_deviation(self) -> None:
        resampled = np.random.default_rng(0).normal(0.2, 0.1, 500)
        p = bootstrap_p_value(0.2, resampled, scale=1, method="normal")
        assert p == 2 * norm.sf(0.2 / resampled.std(ddof=1))

    @pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
    @pytest.mark.parametrize("difference", [1.0, 0.5, 0.3, 0.1, -0.7, 1e-6])
    def test_a_difference_without_variation_has_the_smallest_p_value(self, difference: float, scale: float) -> None:
        """However the difference of every resample is rounded."""
        a = np.random.default_rng(1).random(99) * scale
        resampled = (a + difference * scale) - a
        for under_null in (resampled, np.full(99, difference * scale)):
            assert bootstrap_p_value(difference * scale, under_null, scale=scale) == 0.01
            assert bootstrap_p_value(difference * scale, under_null, scale=scale, method="normal") == 0

    @METHODS
    @pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
    def test_difference_of_zero_has_p_one(self, method: Any, scale: float) -> None:
        varied = np.random.default_rng(2).normal(0, 0.1, 99) * scale
        rounded = np.random.default_rng(3).choice([-1e-16, 0, 1e-16], 99) * scale
        for resampled in (varied, rounded, np.zeros(99)):
            assert bootstrap_p_value(0.0, resampled, scale=scale, method=method) == 1
            assert bootstrap_p_value(2e-16 * scale, resampled, scale=scale, method=method) == 1

    @METHODS
    def test_resamples_without_a_score_do_not_count(self, method: Any) -> None:
        resampled = np.random.default_rng(0).normal(0.2, 0.1, 99)
        gaps = np.concatenate([resampled, [np.nan] * 7])
        expected = bootstrap_p_value(0.2, resampled, scale=1, method=method)
        assert bootstrap_p_value(0.2, gaps, scale=1, method=method) == expected
        assert bootstrap_p_value(0.2, np.full(5, np.nan), scale=1, method=method) == 1

    @METHODS
    def test_single_resample_is_not_significant(self, method: Any) -> None:
        assert bootstrap_p_value(0.5, np.array([0.5]), scale=1, method=method) >= 0.5

    @pytest.mark.parametrize(("difference", "counted", "normal"), [(0.5, 0.01, 0), (1e-300, 0.01, 0), (0.0, 1, 1)])
    def test_nothing_is_rounding_at_a_scale_of_zero(self, difference: float, counted: float, normal: float) -> None:
        resampled = np.full(99, difference)
        assert bootstrap_p_value(difference, resampled, scale=0, method="counted") == counted
        assert bootstrap_p_value(difference, resampled, scale=0, method="normal") == normal

    def test_two_resamples_have_a_standard_deviation(self) -> None:
        p = bootstrap_p_value(0.5, np.array([0.4, 0.6]), scale=1, method="normal")
        assert p == pytest.approx(2 * norm.sf(0.5 / (0.1 * np.sqrt(2))))

    @METHODS
    def test_single_image_has_p_one(self, method: Any) -> None:
        assert bootstrap_p_value(0.5, np.full(99, 0.5), scale=1, n_images=1, method=method) == 1

    @METHODS
    def test_undefined_difference_has_p_nan(self, method: Any) -> None:
        assert np.isnan(bootstrap_p_value(np.nan, np.ones(9), scale=np.nan, method=method))


def test_permutations_as_far_from_zero_as_the_observed_difference_count() -> None:
    permuted = np.array([0.3, -0.3, 0.1 + 0.2, 0.2, 0.0, 0.29, -0.1, np.nan])
    assert permutation_p_value(0.3, permuted, scale=1) == (3 + 1) / (7 + 1)


def test_ranks_count_what_is_significantly_better() -> None:
    values = {"a": 0.9, "b": 0.8, "c": 0.1}
    p_values = {("a", "b"): 0.2, ("a", "c"): 0.01, ("b", "c"): 0.05}
    assert ranks(values, p_values, 0.05) == {"a": 1, "b": 1, "c": 3}


@pytest.mark.parametrize("n", [1, 7, 300])
def test_counts_that_are_kept_are_those_that_are_drawn(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit, whatever was resampled before."""
    kept = [bootstrap_sums(some_statistics(n, seed=k), resamples=20, seed=5) for k in range(3)]
    monkeypatch.setattr(resampling, "_MOST_KEPT", 0)
    drawn = [bootstrap_sums(some_statistics(n, seed=k), resamples=20, seed=5) for k in range(3)]
    np.testing.assert_array_equal(kept, drawn)
