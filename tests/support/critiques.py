"""Small critiques with random weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from captious.learned.leic import Critique, CritiqueRecipe, CritiqueWeights, as_critique_recipe, shapes, vocabulary_of

CAPTIONS = ("A dog runs across the grass.", "a brown dog is running in a field", "two cats sleep on a red sofa")
WIDTH = 5


def small_recipe(combination: str = "mlp", images: str = "none", **others: object) -> CritiqueRecipe:
    small = {"width": 6, "units": 4, "hidden": 3, "pooled": 16, "images_per_batch": 4, "epochs": 2}
    return replace(as_critique_recipe("leic"), combination=combination, images=images, **{**small, **others})  # type: ignore[arg-type]


def random_critique(recipe: CritiqueRecipe, seed: int = 0) -> CritiqueWeights:
    words = vocabulary_of(CAPTIONS, recipe.most_words, recipe.least_count)
    rng = np.random.default_rng(seed)
    arrays = {
        name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes(recipe, len(words), WIDTH).items()
    }
    return CritiqueWeights("random", words, Critique(recipe, arrays), "some-model" if recipe.images != "none" else "")
