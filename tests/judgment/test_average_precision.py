"""Average precision: by hand, with ties and with weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.judgment.correlation import Points, average_precision


def by_definition(scores: list[float], ratings: list[int]) -> float:
    """Over the distinct scores from the lowest: the gain in recall times precision."""
    total = ratings.count(0)
    value = found_before = 0.0
    for threshold in sorted(set(scores)):
        seen = [rating for score, rating in zip(scores, ratings, strict=True) if score <= threshold]
        found = seen.count(0)
        value += (found - found_before) / total * found / len(seen)
        found_before = found
    return value


def test_average_precision_of_small_examples() -> None:
    assert average_precision(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 1, 0, 1])) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision(np.zeros(4), np.array([0, 1, 1, 1])) == 0.25


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), min_size=2, max_size=20))
def test_average_precision_with_weights_equals_repetition(points: list[tuple[int, int]]) -> None:
    scores = [float(score) for score, _ in points]
    ratings = [rating for _, rating in points]
    found = average_precision(np.array(scores), np.array(ratings))
    if len(set(ratings)) == 1:
        assert np.isnan(found)
        return
    assert found == pytest.approx(by_definition(scores, ratings))
    weights = np.arange(len(points)) % 3
    drawn = np.repeat(np.arange(len(points)), weights)
    repeated = average_precision(np.array(scores)[drawn], np.array(ratings)[drawn]) if len(drawn) else np.nan
    assert average_precision(np.array(scores), np.array(ratings), weights.astype(float)) == pytest.approx(
        float(repeated), nan_ok=True
    )


def test_average_precision_points_are_exchanged() -> None:
    points = Points(
        [np.array([rating]) for rating in (1.0, 0.0, 1.0, 0.0)], np.array([0, 0, 1, 1]), "average-precision"
    )
    scores = np.array([0.9, 0.1, 0.8, 0.85])
    assert points.value(scores) == pytest.approx((1 + 2 / 3) / 2)
    assert points.resampled(scores, np.array([[1, 1], [2, 0]], np.int32)) == pytest.approx([(1 + 2 / 3) / 2, 1.0])
    other = -scores
    nothing, everything = np.zeros((1, 2), np.uint8), np.ones((1, 2), np.uint8)
    difference = points.value(scores) - points.value(other)
    assert points.exchanged(scores, other, nothing) == pytest.approx([difference])
    assert points.exchanged(scores, other, everything) == pytest.approx([-difference])
