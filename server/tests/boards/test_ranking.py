"""Ranks on a leaderboard, from scores and their resamples."""

from __future__ import annotations

from itertools import combinations
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.special import ndtri

from captious.statistics import bootstrap_p_value, holm, ranks
from captious_server.boards import ranking
from captious_server.boards.ranking import SIGNIFICANCE, RankedScores, corrected_rows, rank_rows


def rows(scores: object, resampled: object, digits: int = 4, n_images: int = 100) -> RankedScores:
    exact = np.array(scores, dtype=float)
    return RankedScores(exact, exact.round(digits), np.array(resampled), n_images)


def board(n: int, *, seed: int = 0, undefined: bool = False) -> RankedScores:
    """Systems of which some are close, some equal."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.3, 0.34, n).round(3) + rng.uniform(0, 1e-5, n)
    resampled = scores[:, None] + rng.normal(0, 0.01, 50) + rng.normal(0, 0.003, (n, 50))
    if undefined:
        resampled[rng.random((n, 50)) < 0.1] = np.nan
    return rows(scores, resampled)


def p_values(board: RankedScores) -> dict[tuple[int, int], float]:
    """The test of the library, one pair after the other."""
    return {
        (a, b): bootstrap_p_value(
            board.scores[a] - board.scores[b], board.resampled[a] - board.resampled[b], scale=1.0, method="normal"
        )
        for a, b in combinations(range(len(board)), 2)
    }


def from_pairs(board: RankedScores, p_values: dict[tuple[int, int], float]) -> list[int]:
    return [*ranks(dict(enumerate(board.rounded.tolist())), p_values, SIGNIFICANCE).values()]


@pytest.mark.parametrize("undefined", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_ranks_of_small_boards_use_holm_over_all_pairs(seed: int, undefined: bool) -> None:
    small = board(30, seed=seed, undefined=undefined)
    pairs = p_values(small)
    expected = from_pairs(small, dict(zip(pairs, holm([*pairs.values()]), strict=True)))
    assert rank_rows(small).tolist() == expected
    assert len(set(expected)) > 3


@pytest.mark.parametrize("undefined", [False, True])
def test_ranks_of_large_boards_use_bonferroni(monkeypatch: pytest.MonkeyPatch, undefined: bool) -> None:
    monkeypatch.setattr(ranking, "HOLM_ROWS", 10)
    monkeypatch.setattr(ranking, "_BLOCK_ROWS", 7)
    large = board(20, undefined=undefined)
    n_pairs = 32 * 31 / 2
    expected = from_pairs(large, {pair: n_pairs * p for pair, p in p_values(large).items()})
    assert rank_rows(large).tolist() == expected
    assert len(set(expected)) > 3


@pytest.mark.parametrize("undefined", [False, True])
def test_new_rows_alone_are_compared(monkeypatch: pytest.MonkeyPatch, undefined: bool) -> None:
    monkeypatch.setattr(ranking, "HOLM_ROWS", 10)
    monkeypatch.setattr(ranking, "_BLOCK_ROWS", 7)
    everyone = board(24, undefined=undefined)
    known = np.zeros(24, dtype=np.int64)
    known[4:] = rank_rows(everyone.take(np.arange(4, 24)))
    expected = rank_rows(everyone)
    compare = Mock(side_effect=ranking._is_better)
    monkeypatch.setattr(ranking, "_is_better", compare)
    assert rank_rows(everyone, known).tolist() == expected.tolist()
    assert all(len(call.args[0].rows) == 4 for call in compare.call_args_list)


def test_correction_of_a_large_board_stays_until_its_size_doubles() -> None:
    assert [corrected_rows(n) for n in (1, 500, 501, 512, 513, 5000, 8192)] == [1, 500, 512, 512, 1024, 8192, 8192]
    least = ranking._critical_errors(5000)
    assert least == pytest.approx(-ndtri(0.025 / (8192 * 8191 / 2)))
    assert 6.0 < least < 6.1


def test_significantly_worse_system_ranks_lower() -> None:
    rng = np.random.default_rng(0)
    resampled = [0.9 + rng.normal(0, 0.01, 100), 0.9 + rng.normal(0, 0.01, 100), rng.normal(0.5, 0.01, 100)]
    assert rank_rows(rows([0.9, 0.901, 0.5], resampled)).tolist() == [1, 1, 3]
    assert rank_rows(rows([-0.9, -0.901, -0.5], resampled)).tolist() == [2, 2, 1]


@pytest.mark.parametrize("difference", [1.0, 0.5, 0.3, 0.1])
def test_constant_differences_are_significant(difference: float) -> None:
    """So many systems that no p value estimated from resamples would survive the correction."""
    resampled = np.random.default_rng(0).random(100)
    steps = difference * np.arange(20)
    ranked = rank_rows(rows(0.5 + steps, resampled + steps[:, None]))
    assert ranked.tolist() == [20 - n for n in range(20)]


def test_scores_equal_when_rounded_share_a_rank() -> None:
    resampled = np.random.default_rng(0).random(100) * 0.3
    assert rank_rows(rows([0.1 + 0.2, 0.3], [resampled + 0.1 - 0.1, resampled])).tolist() == [1, 1]
    assert rank_rows(rows([0.30001, 0.3], [resampled + 0.00001, resampled])).tolist() == [1, 1]


@pytest.mark.parametrize("n", [0, 1])
def test_board_with_nothing_to_compare_has_rank_one(n: int) -> None:
    assert rank_rows(board(n)).tolist() == [1] * n


@pytest.mark.parametrize("most", [500, 2], ids=["Holm", "Bonferroni"])
def test_systems_on_one_image_share_a_rank(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """All resamples of one image are the same, as in ``captious compare``."""
    monkeypatch.setattr(ranking, "HOLM_ROWS", most)
    scores = np.array([0.2, 0.5, 0.9])
    same = np.repeat(scores[:, None], 50, axis=1)
    assert rank_rows(rows(scores, same, n_images=2)).tolist() == [3, 2, 1]
    one = rows(scores, same, n_images=1)
    assert rank_rows(one).tolist() == [1, 1, 1]
    assert rank_rows(one, np.array([1, 1, 0])).tolist() == [1, 1, 1]
    differences = [scores[b] - scores[a] for a, b in combinations(range(3), 2)]
    assert [bootstrap_p_value(d, np.full(50, d), scale=1.0, n_images=1) for d in differences] == [1.0, 1.0, 1.0]
