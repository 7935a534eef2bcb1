"""Rounded numbers, as pages, files and the API show them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious_server.boards.ranking import rounded, rounded_ends

_SCORES = st.floats(-10, 10)


@given(st.tuples(_SCORES, _SCORES, _SCORES), st.integers(1, 6))
def test_rounded_score_lies_in_its_rounded_interval(numbers: tuple[float, float, float], digits: int) -> None:
    low, score, high = sorted(numbers)
    shown_low, shown_high = rounded_ends(low, high, digits)
    shown = rounded(score, digits)
    assert shown_low <= shown <= shown_high


@pytest.mark.parametrize(
    ("low", "high", "digits", "shown"),
    [
        (0.4751, 0.4849, 2, (0.4, 0.5)),
        (0.29, 0.29, 3, (0.29, 0.29)),
        (-0.04, 0.04, 2, (-0.1, 0.1)),
        (0.12345, 0.23456, 4, (0.123, 0.235)),
        (None, math.nan, 4, (None, None)),
    ],
)
def test_intervals_are_rounded_outward(
    low: float | None, high: float | None, digits: int, shown: tuple[float | None, float | None]
) -> None:
    assert rounded_ends(low, high, digits) == shown
