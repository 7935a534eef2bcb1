"""The numpy network is the plain transcription in tests/oracles/leic_score.py."""

from __future__ import annotations

import numpy as np
import pytest

from captious.errors import ParameterError
from captious.learned.leic import COMBINATIONS, IMAGES, Critique
from tests.oracles import leic_score
from tests.support.critiques import WIDTH, random_critique, small_recipe

SHAPES = [(combination, images) for combination in COMBINATIONS for images in IMAGES]


def some_numbers(n: int, length: int, n_words: int) -> np.ndarray:
    """Return captions of every length: without an end mark, with one at each place, and empty ones."""
    rng = np.random.default_rng(5)
    rows = np.zeros((n, length), np.int32)
    for row in range(n):
        words = row % (length + 1)
        rows[row, :words] = rng.integers(4, n_words + 4, words)
        if words < length:
            rows[row, words] = 3
    return rows


@pytest.mark.parametrize(("combination", "images"), SHAPES)
@pytest.mark.parametrize(("cut", "layers"), [("zeros", 1), ("first-words", 1), ("zeros", 3)])
def test_scores_are_those_of_the_oracle(combination: str, images: str, cut: str, layers: int) -> None:
    recipe = small_recipe(combination, images, cut=cut, length=7, layers=layers)
    trained = random_critique(recipe)
    arrays = trained.critique.arrays
    numbers = some_numbers(20, 7, len(trained.words))
    sentences = trained.critique.sentences(numbers)
    slow = [leic_score.sentence(arrays, row, cut) for row in numbers.tolist()]
    np.testing.assert_allclose(sentences, slow, atol=2e-6)
    features = np.random.default_rng(6).normal(size=(20, WIDTH)).astype(np.float32)
    candidates, references = sentences, sentences[::-1].copy()
    vectors = None if images == "none" else features
    context = None if images == "only" else references
    scores = trained.critique.humans(candidates, context, vectors)
    expected = [
        leic_score.human(
            arrays,
            combination,
            slow[i],
            None if context is None else slow[19 - i],
            None if vectors is None else features[i].tolist(),
            recipe.pooled,
        )
        for i in range(20)
    ]
    np.testing.assert_allclose(scores, expected, atol=3e-6)
    assert np.ptp(scores) > 0.01


def test_a_caption_that_is_too_long_is_zeros_in_the_official_form() -> None:
    trained = random_critique(small_recipe(length=3))
    assert not trained.sentences(("a dog runs across the grass",)).any()
    assert trained.sentences(("a dog",)).any()
    other = random_critique(small_recipe(length=3, cut="first-words"))
    assert other.sentences(("a dog runs across the grass",)).any()


def test_arrays_of_another_recipe_are_refused() -> None:
    arrays = random_critique(small_recipe("mlp")).critique.arrays
    with pytest.raises(ParameterError, match="not the network of the recipe"):
        Critique(small_recipe("concat"), arrays)
    broken = {**arrays, "output.bias": np.full(2, np.nan, np.float32)}
    with pytest.raises(ParameterError, match="not finite"):
        Critique(small_recipe("mlp"), broken)
