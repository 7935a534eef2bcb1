"""Ranks on a leaderboard, from scores and their resamples."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("django")

from captious.server.boards.ranking import rank_submissions


def test_who_is_significantly_worse_comes_later() -> None:
    rng = np.random.default_rng(0)
    resampled = {1: 0.9 + rng.normal(0, 0.01, 100), 2: 0.9 + rng.normal(0, 0.01, 100), 3: rng.normal(0.5, 0.01, 100)}
    assert rank_submissions({1: 0.9, 2: 0.901, 3: 0.5}, resampled) == {1: 1, 2: 1, 3: 3}
    assert rank_submissions({1: 0.9, 2: 0.901, 3: 0.5}, resampled, lower_is_better=True) == {1: 2, 2: 2, 3: 1}


@pytest.mark.parametrize("difference", [1.0, 0.5, 0.3, 0.1])
def test_differences_that_do_not_vary(difference: float) -> None:
    """Many systems, whose correction for the number of pairs no counted p value would survive."""
    resampled = np.random.default_rng(0).random(100)
    scores = {key: 0.5 + difference * key for key in range(20)}
    ranks = rank_submissions(scores, {key: resampled + difference * key for key in scores})
    assert ranks == {key: 20 - key for key in scores}


def test_equal_but_for_rounding() -> None:
    resampled = np.random.default_rng(0).random(100) * 0.3
    ranks = rank_submissions({1: 0.1 + 0.2, 2: 0.3}, {1: resampled + 0.1 - 0.1, 2: resampled})
    assert ranks == {1: 1, 2: 1}


def test_a_submission_without_a_score_has_no_rank() -> None:
    assert rank_submissions({1: 0.5, 2: float("nan")}, {1: np.full(9, 0.5), 2: np.full(9, np.nan)}) == {1: 1}
