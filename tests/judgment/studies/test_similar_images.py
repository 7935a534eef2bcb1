"""Captions of near images come from the nearest ones, never from the image itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from captious.data import References
from captious.judgment.studies import robustness
from captious.judgment.studies.references import image_vectors, near_donors
from captious.models.image_features import ImageFeatures

EXAMPLES = Path(__file__).parents[3] / "examples"
TEXTS = ("a dog runs", "the dog", "a dog runs far", "one dog", "a red bus", "the bus", "a red bus stops", "two buses")


def test_images_with_the_same_words_are_near() -> None:
    references = References((0, 1, 2, 3), TEXTS, np.array([0, 2, 4, 6, 8]))
    vectors = image_vectors(references, "captions")
    alike = (vectors @ vectors.T).todense()
    np.testing.assert_allclose(np.diag(alike), 1)
    donors = near_donors(vectors, [0.01], np.random.default_rng(0))
    assert donors[0.01].tolist() == [1, 0, 3, 2]


def test_draws_are_from_the_nearest_share() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(700, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    alike = vectors @ vectors.T
    np.fill_diagonal(alike, -np.inf)
    ranks = (-alike).argsort(axis=1).argsort(axis=1)
    donors = near_donors(vectors, [0.1, 1.0], np.random.default_rng(2))
    for share, drawn in donors.items():
        found = ranks[np.arange(700), drawn]
        assert found.max() < round(share * 699)  # the image itself is the last
        assert found.mean() == pytest.approx(share * 699 / 2, rel=0.1)


def test_near_images_are_found_by_features(tmp_path: Path) -> None:
    path = tmp_path / "features.npz"
    ImageFeatures((0, 1, 2), np.array([[1, 0], [0, 2], [0.1, 3]], np.float32)).save(path)
    references = References((0, 1, 2), ("a", "b", "c"), np.arange(4))
    donors = near_donors(image_vectors(references, path), [0.01], np.random.default_rng(0))
    assert donors[0.01].tolist() == [2, 2, 1]


def test_robustness_uses_near_images() -> None:
    study = robustness(EXAMPLES / "references.json", "rouge-l", near="captions", strengths=[0.04, 1], resamples=10)
    areas = {record["pathology"]: record["at 1"] for record in study.records}
    assert list(areas)[-1] == "captions of near images"
    near = next(record for record in study.records if record["pathology"] == "captions of near images")
    assert 1 > near["at 0.04"] > near["at 1"]
    assert study.settings["near"] == "captions"
