"""Exact sums: correctly rounded, whatever the order and the parts."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.statistics import ExactSums, column_sums

finite = st.floats(allow_nan=False, allow_infinity=False, width=64, min_value=-1e300, max_value=1e300)


@given(st.lists(finite, max_size=30))
def test_a_sum_is_the_correctly_rounded_one(numbers: list[float]) -> None:
    column = np.array(numbers, float)[:, None]
    assert ExactSums.of(column).values.tolist() == [math.fsum(numbers)]


@given(st.lists(finite, min_size=2, max_size=30), st.integers(0, 30), st.randoms())
def test_parts_in_any_order_give_the_same_sum(numbers: list[float], cut: int, rng: random.Random) -> None:
    whole = ExactSums.of(np.array(numbers)[:, None])
    rng.shuffle(numbers)
    parts = np.array(numbers[:cut]).reshape(-1, 1), np.array(numbers[cut:]).reshape(-1, 1)
    assert ExactSums.of(parts[1]) + ExactSums.of(parts[0]) == whole
    assert ExactSums.of(parts[0]) + ExactSums.of(parts[1]) == whole


@given(st.lists(finite, max_size=5))
def test_text_loses_nothing(numbers: list[float]) -> None:
    sums = ExactSums.of(np.array([numbers]))
    assert ExactSums.from_text(sums.to_text()) == sums


def test_exact_text_is_short() -> None:
    assert ExactSums.of(np.array([[27.0, 0.75, 0.0, -4.0]])).to_text() == ["1b", "3p-2", "0", "-4"]


@pytest.mark.parametrize("text", ["", "x", "1p", "1p9", "1p-9999", "--1", "1_0", "f" * 2000])
def test_malformed_exact_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        ExactSums.from_text([text])


def test_smallest_and_largest_numbers_are_summed_exactly() -> None:
    numbers = [5e-324, 2.0**1000, -(2.0**1000), 1.0]
    assert ExactSums.of(np.array(numbers)[:, None]).values.tolist() == [1.0]


@pytest.mark.parametrize("step", [2.0**-25, 2.0**-26, 2.0**-52])
def test_halves_of_digits_that_cancel_are_summed_exactly(step: float) -> None:
    """Digits are added in halves of 26 and 27 bits, of which one is 1 or -1 here, and the other often 0."""
    for numbers, total in (([1.0, -1.0 - step], -step), ([1.0 + step, -1.0], step), ([1.0 + step, -1.0 - step], 0.0)):
        assert ExactSums.of(np.array(numbers)[:, None]).values.tolist() == [total]


def test_whole_columns_and_others_are_summed_exactly() -> None:
    rows = np.array([[1.0, 0.1], [2.0, 0.2], [4.0, 0.3]])
    assert column_sums(rows).tolist() == [7.0, math.fsum([0.1, 0.2, 0.3])]


def test_columns_with_late_fractions_are_summed_exactly() -> None:
    column = np.array([1.0] * 200 + [0.1] * 10)
    assert column_sums(column[:, None]).tolist() == [math.fsum(column)]


def test_large_whole_numbers_are_summed_exactly() -> None:
    numbers = [2.0**53, 1.0, 1.0, 2.0**53]
    assert column_sums(np.array(numbers)[:, None]).tolist() == [math.fsum(numbers)]


def test_sum_of_no_rows_is_zero() -> None:
    assert ExactSums.of(np.empty((0, 3))).values.tolist() == [0, 0, 0]


def test_infinite_and_nan_numbers_propagate() -> None:
    """The sum of their column is that of numpy, and other columns stay exact."""
    rows = np.array([[np.nan, 0.1, np.inf], [1.0, 0.2, 1.0], [2.0, 0.3, 2.0]])
    expected = [np.nan, 0.6, np.inf]
    np.testing.assert_array_equal(column_sums(rows), expected)
    np.testing.assert_array_equal((ExactSums.of(rows[:1]) + ExactSums.of(rows[1:])).values, expected)
    with pytest.raises(ValueError, match="no exact text"):
        ExactSums.of(rows).to_text()
