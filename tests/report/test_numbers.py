"""Formats of numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious import drawing


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.70804, ".7080"),
        (1.0957, "1.0957"),
        (10.0, "10.0000"),
        (10.05, "10.0500"),
        (-0.0312, "-.0312"),
        (-1.5, "-1.5000"),
        (0.0, ".0000"),
        (-0.0, ".0000"),
        (-0.00001, ".0000"),
        (1e-300, ".0000"),
        (0.99996, "1.0000"),
        (-0.99996, "-1.0000"),
        (math.nan, "–"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
    ],
)
def test_score_is_formatted(value: float, text: str) -> None:
    assert drawing.format_score(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0392, "+.0392"), (-0.0392, "-.0392"), (0.0, "+.0000"), (-1e-9, "+.0000"), (1.5, "+1.5000")]
)
def test_signed_number_is_formatted(value: float, text: str) -> None:
    assert drawing.format_difference(value) == text


def test_interval_is_formatted_as_a_span() -> None:
    assert drawing.format_interval(0.7041, 0.7119) == ".704 – .712"
    assert drawing.format_interval(-0.01, 1.0966) == "-.010 – 1.097"


@pytest.mark.parametrize(
    ("p", "text"), [(1.0, "1.000"), (0.042, ".042"), (0.001, ".001"), (0.00099, "<.001"), (0.0, "<.001")]
)
def test_p_value_is_formatted(p: float, text: str) -> None:
    assert drawing.format_p_value(p) == text


@given(st.floats(-1e6, 1e6), st.integers(1, 8))
def test_formatted_score_reads_back_as_the_rounded_number(value: float, digits: int) -> None:
    text = drawing.format_score(value, digits)
    assert float(text) == round(value, digits)
    assert len(text.partition(".")[2]) == digits
    assert not text.startswith(("0.", "-0."))
