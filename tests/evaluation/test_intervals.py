"""Confidence intervals of corpus scores."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from captious.metrics.contract.metric import Result, Statistics


def result_of(metric, values) -> Result:
    rows = np.stack([np.asarray(values, float), np.ones(len(values))], axis=1)
    return Result("given", "given|", Statistics(metric, rows), 0)


def test_intervals_cover_the_true_mean_about_as_often_as_they_say(given) -> None:
    """Of 400 corpora of 60 images each, 95% intervals should hold the true mean in about 95%."""
    rng = np.random.default_rng(2024)
    metric, trials, covered = given(), 400, 0
    for trial in range(trials):
        result = result_of(metric, rng.exponential(1.0, 60))
        low, high = result.confidence_interval(resamples=300, seed=trial)
        covered += low <= 1.0 <= high
    # A percentile interval of a skewed sample of 60 covers a little less than it says.
    assert 0.89 <= covered / trials <= 0.985


def test_width_is_that_of_the_standard_error(given) -> None:
    values = np.random.default_rng(1).normal(5, 2, 400)
    low, high = result_of(given(), values).confidence_interval(resamples=4000)
    assert (high - low) / 2 == pytest.approx(1.96 * values.std() / math.sqrt(400), rel=0.06)
    assert (high + low) / 2 == pytest.approx(values.mean(), abs=0.03)


@hypothesis_given(st.lists(st.floats(-5, 5), min_size=1, max_size=20), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_a_higher_level_gives_an_interval_that_holds_the_lower_one(
    values: list[float], one: float, other: float
) -> None:
    from captious.metrics.rouge import RougeL  # a mean of caption scores, as good as any

    narrow, wide = sorted([one, other])
    result = result_of(RougeL(), values)
    low, high = result.confidence_interval(narrow, resamples=50)
    lower, higher = result.confidence_interval(wide, resamples=50)
    assert min(values) - 1e-9 <= lower <= low <= high <= higher <= max(values) + 1e-9


def test_interval_is_a_pair_of_plain_floats(given) -> None:
    low, high = result_of(given(), [1.0, 2.0]).confidence_interval()
    assert type(low) is float
    assert type(high) is float


def test_interval_of_one_image_has_no_width(given) -> None:
    assert result_of(given(), [0.25]).confidence_interval() == (0.25, 0.25)
