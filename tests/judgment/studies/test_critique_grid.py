"""Critiques trained in several ways: each record is a training in two folds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from captious.data import read_captions
from captious.errors import ParameterError
from captious.judgment.studies import critique_grid
from tests.support.critiques import small_recipe

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.models

EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = (EXAMPLES / "baseline.json", EXAMPLES / "references.json")


def test_records_are_trainings_in_two_folds() -> None:
    from captious.learned.training.critiques import two_folds

    recipe = small_recipe(epochs=1)
    study = critique_grid(*FILES, recipe, layers=[1, 2], resamples=20)
    assert [(r["images"], r["augmentation"], r["layers"]) for r in study.records] == [
        *(("none", augmentation, layers) for layers in (1, 2) for augmentation in ("yes", "no"))
    ]
    folds = two_folds(read_captions(*FILES), replace(recipe, images="none", negatives=("generated",), layers=2))
    last = study.records[-1]
    assert last["score"] == pytest.approx(folds.system.mean())
    assert last["human"] == pytest.approx(folds.human.mean())
    assert last["ci95_low"] <= last["score"] <= last["ci95_high"]
    assert all(0 < last[name] < 1 for name in ("random captions", "word permutation", "random words"))
    dots = study.pictures["critiques"].rows  # type: ignore[union-attr]
    assert dots["none, no, 2"].value == last["score"]
    assert len({record["score"] for record in study.records}) == 4


def test_critique_grid_samples_images_and_needs_layers() -> None:
    study = critique_grid(*FILES, small_recipe(epochs=1), sample=8, resamples=20, layers=[np.int64(1)])
    assert study.settings["images"] == 8
    with pytest.raises(ParameterError, match="no numbers of layers"):
        critique_grid(*FILES, small_recipe(), layers=[])
