"""Training of critiques: gradients, data, and that it learns; on real captions where they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from captious.data import Captions, read_captions
from captious.errors import ParameterError
from captious.learned.leic import COMBINATIONS, IMAGES
from captious.models.image_features import ImageFeatures
from tests.support.critiques import WIDTH, random_critique, small_recipe

torch = pytest.importorskip("torch")

from captious.learned.training import critiques  # noqa: E402
from captious.learned.training.critiques import train_critique, two_folds  # noqa: E402

pytestmark = pytest.mark.models


@pytest.fixture
def captions(shared_data: Path) -> Captions:
    """A real system on 60 images."""
    table = read_captions(
        shared_data / "coco/results_val2014/vinyals-et-al-2017.json.gz", shared_data / "coco/captions_val2014.json.gz"
    )
    return table.select(np.arange(60))


@pytest.mark.parametrize("combination", COMBINATIONS)
@pytest.mark.parametrize(("images", "layers"), [*((images, 1) for images in IMAGES), ("none", 3)])
def test_torch_and_numpy_critiques_agree(combination: str, images: str, layers: int) -> None:
    recipe = small_recipe(combination, images, dropout=0.0, length=6, layers=layers)
    trained = random_critique(recipe)
    rng = np.random.default_rng(3)
    numbers = rng.integers(3, len(trained.words) + 4, (3, 9, 6)).astype(np.int32)
    features = rng.normal(size=(9, WIDTH)).astype(np.float32)
    network = critiques._Network(recipe, {k: torch.from_numpy(a) for k, a in trained.critique.arrays.items()})
    image_vectors = None if images == "none" else torch.from_numpy(features)
    logits = network.logits(*numbers, image_vectors)
    context, *others = (trained.critique.sentences(ids) for ids in numbers)
    for probabilities, candidates in zip(logits.softmax(1)[:, 0].split(9), others, strict=True):
        expected = trained.critique.humans(
            candidates, None if images == "only" else context, None if images == "none" else features
        )
        np.testing.assert_allclose(probabilities.numpy(), expected, atol=1e-5)


def test_critique_training_learns_and_is_reproducible(captions: Captions) -> None:
    recipe = small_recipe(units=32, hidden=32, width=16, epochs=60, decay=1.0, images_per_batch=20, dropout=0.0)
    recipe = replace(recipe, negatives=("generated", "sampled"))
    generated = {image: [text] for image, text in zip(captions.ids, captions.candidates, strict=True)}
    first, course = train_critique(captions.references, recipe, generated=generated)
    assert course.accuracies[-1] > 0.8 > course.accuracies[0]
    assert course.losses[-1] < course.losses[0]
    again, _ = train_critique(captions.references, recipe, generated=generated)
    assert again.label == first.label
    assert first.critique.recipe.negatives == ("generated",)


def test_images_reach_the_critique(captions: Captions) -> None:
    rng = np.random.default_rng(0)
    features = ImageFeatures(captions.ids, rng.normal(size=(60, WIDTH)).astype(np.float32), "noise")
    recipe = small_recipe("concat", "context", images_per_batch=20)
    trained, _ = train_critique(captions.references, recipe, images=features)
    assert trained.image_model == "noise"
    assert trained.critique.image_width == WIDTH
    without, _ = train_critique(captions.references, recipe)
    assert without.critique.recipe.images == "none"


def test_two_folds_score_every_image_by_the_other_critique(captions: Captions) -> None:
    recipe = small_recipe(images_per_batch=10)
    result = two_folds(captions, recipe)
    assert sorted(np.bincount(result.folds).tolist()) == [30, 30]
    assert ((result.system > 0) & (result.system < 1) & (result.human > 0) & (result.human < 1)).all()
    assert result.critiques[0].label != result.critiques[1].label
    for fold, (trained, other) in enumerate(zip(result.critiques, result.critiques[::-1], strict=True)):
        rows = np.flatnonzero(result.folds == fold)
        texts = tuple(captions.candidates[row] for row in rows.tolist())
        assert trained.sentences(texts).shape == other.sentences(texts).shape
    again = two_folds(captions, recipe)
    np.testing.assert_array_equal(again.system, result.system)


def test_examples_without_features_or_references_are_refused(tmp_path: Path) -> None:
    lone = read_captions(["a dog"] * 3, [["a dog", "the dog"], ["one"], ["a cat", "cats"]]).references
    with pytest.raises(ParameterError, match="1 of 3 images has a single reference"):
        train_critique(lone, small_recipe())
    pairs = read_captions(["a dog"] * 2, [["a dog", "the dog"], ["a cat", "cats"]]).references
    with pytest.raises(ParameterError, match="needs image features"):
        train_critique(pairs, small_recipe(images="only"))
    with pytest.raises(ParameterError, match="no negative examples"):
        train_critique(pairs, small_recipe(negatives=("generated",)))
    with pytest.raises(ParameterError, match="one image"):
        train_critique(pairs.select([0]), small_recipe())
    features = ImageFeatures((7,), np.ones((1, 2), np.float32))
    with pytest.raises(ParameterError, match="2 of 2 images have no image features"):
        train_critique(pairs, small_recipe(images="context"), images=features)


def test_ids_are_compared_as_text(captions: Captions) -> None:
    recipe = small_recipe(images_per_batch=20)
    numbers = {image: [text] for image, text in zip(captions.ids, captions.candidates, strict=True)}
    texts: dict[int | str, list[str]] = {str(image): some for image, some in numbers.items()}
    first, _ = train_critique(captions.references, recipe, generated=numbers)
    second, _ = train_critique(captions.references, recipe, generated=texts)
    without, _ = train_critique(captions.references, recipe)
    assert first.label == second.label != without.label
    with pytest.raises(ParameterError, match="the sampled captions are of other images"):
        train_critique(captions.references, recipe, sampled={"none": ["a dog"]})


def test_inputs_that_a_recipe_does_not_take_are_refused() -> None:
    pairs = read_captions(["a dog"] * 2, [["a dog", "the dog"], ["a cat", "cats"]]).references
    features = ImageFeatures(pairs.ids, np.ones((2, 2), np.float32))
    with pytest.raises(ParameterError, match="the recipe sees no images"):
        train_critique(pairs, small_recipe(images="none"), images=features)
    with pytest.raises(ParameterError, match="not among the negatives"):
        train_critique(pairs, small_recipe(negatives=("pathological",)), generated={0: ["x"]})
    with pytest.raises(ParameterError, match="no word occurs 99 times"):
        train_critique(pairs, small_recipe(least_count=99))
    with pytest.raises(ParameterError, match="not a valid name"):
        train_critique(pairs, small_recipe(), name="a|b")
    lone = read_captions(["a dog"] * 4, [["a", "b"], ["one"], ["c", "d"], ["e", "f"]])
    with pytest.raises(ParameterError, match="1 of 4 images has a single reference"):
        two_folds(lone, small_recipe())
