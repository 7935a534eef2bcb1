"""Recipes of critiques: names, files, and fields that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captious.errors import ParameterError, UnknownNameError
from captious.learned.leic import CRITIQUE_RECIPES, CritiqueRecipe, as_critique_recipe


def test_the_official_recipe_is_that_of_the_code() -> None:
    recipe = as_critique_recipe("leic")
    assert (recipe.combination, recipe.units, recipe.hidden, recipe.pooled) == ("mlp", 512, 512, 8192)
    assert (recipe.most_words, recipe.least_count, recipe.length, recipe.cut) == (10_000, 1, 15, "zeros")
    assert (recipe.learning_rate, recipe.decay, recipe.clip, recipe.epochs) == (1e-3, 0.9, 1.0, 30)


def test_the_papers_recipe_differs_where_the_paper_does() -> None:
    official, paper = (as_critique_recipe(name).to_dict() for name in ("leic", "leic-paper"))
    different = {field for field in official if official[field] != paper[field]}
    assert different == {"name", "least_count", "cut", "clip", "epochs"}


@pytest.mark.parametrize("name", CRITIQUE_RECIPES)
def test_a_recipe_survives_its_form_in_files(name: str) -> None:
    recipe = as_critique_recipe(name)
    assert CritiqueRecipe.from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe


def test_recipe_file_changes_its_base(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('base = "leic-paper"\nunits = 16\nnegatives = ["pathological"]\n')
    recipe = as_critique_recipe(file)
    assert (recipe.name, recipe.units, recipe.negatives, recipe.clip) == ("mine", 16, ("pathological",), 0)


def test_unknown_recipe_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="no recipe 'leik'"):
        as_critique_recipe("leik")
    with pytest.raises(ParameterError, match="invalid images"):
        CritiqueRecipe("mine", images="all")
