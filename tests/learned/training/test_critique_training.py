"""Training of critiques: gradients, data, and that it learns; on real captions where they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from captious.data import Captions, read_captions
from captious.errors import ParameterError
from captious.learned.leic import COMBINATIONS, IMAGES, critique_scores
from captious.models.image_features import ImageFeatures
from tests.support.critiques import WIDTH, random_critique, small_recipe

torch = pytest.importorskip("torch")

from captious.learned.training import critiques  # noqa: E402
from captious.learned.training.critiques import train_critique, two_folds  # noqa: E402

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
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
    logits = network.of_batch(*numbers, image_vectors)
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
    (first,), (second,) = result.critiques
    assert first.label != second.label
    for fold, critique in enumerate((first, second)):
        rows = result.folds == fold
        expected = critique_scores(critique, captions.select(rows), None, seed=recipe.seed)
        np.testing.assert_array_equal(result.system[rows], expected)
    again = two_folds(captions, recipe)
    np.testing.assert_array_equal(again.system, result.system)
    assert result.trainings.tolist() == [result.system.mean()]


def test_scores_are_averaged_over_trainings_and_last_epochs(captions: Captions) -> None:
    recipe = small_recipe(images_per_batch=10, epochs=3)
    result = two_folds(captions, recipe, trainings=2, last_epochs=2)
    singly = [two_folds(captions, replace(recipe, epochs=epochs)) for epochs in (2, 3)]
    expected = np.zeros((2, len(captions)))
    for fold, critiques_of_fold in enumerate(result.critiques):
        assert len({critique.label for critique in critiques_of_fold}) == 4
        for alone, critique in zip(singly, critiques_of_fold, strict=False):  # those of the first training
            assert critique.critique.arrays["embedding"].tolist() == (
                alone.critiques[fold][0].critique.arrays["embedding"].tolist()
            )
        rows = result.folds == fold
        of_fold = captions.select(rows)
        scores = [critique_scores(critique, of_fold, None, seed=recipe.seed) for critique in critiques_of_fold]
        expected[:, rows] = np.mean(scores[:2], axis=0), np.mean(scores[2:], axis=0)
    np.testing.assert_allclose(result.system, expected.mean(axis=0))
    np.testing.assert_allclose(result.trainings, expected.mean(axis=1))
    assert [len(courses) for courses in result.courses] == [2, 2]
    for options in ({"trainings": 0}, {"last_epochs": 0}, {"last_epochs": 4}):
        with pytest.raises(ParameterError, match="cannot be averaged"):
            two_folds(captions, recipe, **options)


def test_random_captions_may_be_of_near_images(captions: Captions) -> None:
    """Equation 7 of the paper: here of the two nearest of 59, which are of the same third of the images."""
    of_third = np.repeat(np.arange(20), 3)
    rng = np.random.default_rng(0)
    vectors = np.eye(20, dtype=np.float32)[of_third] + rng.normal(0, 0.01, (60, 20)).astype(np.float32)
    features = ImageFeatures(captions.ids, vectors, "groups")
    recipe = small_recipe(negatives=("pathological",), pathologies=("random-caption",), near=2 / 59, images="none")
    near = features.nearest(captions.ids, 2)
    assert [*map(sorted, near.tolist())] == [
        [j for j in range(60) if of_third[j] == of_third[i] and i != j] for i in range(60)
    ]
    seen: list[tuple[int, int]] = []

    class Training(critiques._Training):
        def _other_image(self, image: int) -> int:
            seen.append((image, super()._other_image(image)))
            return seen[-1][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(critiques, "_Training", Training)
        trained, _ = train_critique(captions.references, recipe, images=features)
    assert len(seen) > 60
    assert all(of_third[image] == of_third[other] and image != other for image, other in seen)
    assert trained.critique.image_width == 0
    assert trained.about["image_features"].startswith("groups-")
    with pytest.raises(ParameterError, match="near images need image features"):
        train_critique(captions.references, recipe)


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
