"""Captions that a critique is shown as wrong ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.learned.leic import END, FIRST_WORD, PAD
from captious.learned.training.critiques import permuted, replace_random_words

LENGTH = 15


def caption(n: int) -> np.ndarray:
    """n different words, as an encoded caption."""
    numbers = np.full(LENGTH, PAD, np.int32)
    numbers[:n] = np.arange(n) + FIRST_WORD
    if n < LENGTH:
        numbers[n] = END
    return numbers


@given(st.integers(0, LENGTH), st.integers(0, 1000))
def test_a_permuted_caption_keeps_its_words_and_its_end(n: int, seed: int) -> None:
    original = caption(n)
    corrupted = permuted(original, np.random.default_rng(seed))
    assert sorted(corrupted.tolist()) == sorted(original.tolist())
    np.testing.assert_array_equal(corrupted[n:], original[n:])
    np.testing.assert_array_equal(original, caption(n))


@given(st.integers(0, LENGTH), st.integers(0, 1000))
def test_random_words_leave_the_end(n: int, seed: int) -> None:
    corrupted = replace_random_words(caption(n), 1_000_000, np.random.default_rng(seed))
    np.testing.assert_array_equal(corrupted[n:], caption(n)[n:])
    assert (corrupted[:n] >= FIRST_WORD).all()
    changed = int((corrupted != caption(n)).sum())
    if n >= 3:
        assert 2 <= changed < n or n == LENGTH  # a caption that is cut never changes its last word
    assert n < LENGTH or corrupted[-1] == caption(n)[-1]


@pytest.mark.parametrize("corrupt", [permuted, lambda words, rng: replace_random_words(words, 9_999, rng)])
def test_most_captions_change(corrupt: object) -> None:
    rng = np.random.default_rng(0)
    changed = [bool((corrupt(caption(8), rng) != caption(8)).any()) for _ in range(200)]  # type: ignore[operator]
    assert np.mean(changed) > 0.9
