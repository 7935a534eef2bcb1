"""LEIC as a metric: the contract of metrics, with small random critiques."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.data import Captions, read_captions
from captious.errors import ParameterError
from captious.judgment.items import references_table
from captious.learned.leic import CritiqueWeights, Leic
from captious.metrics.contract.settings import Settings
from captious.models.image_features import ImageFeatures
from tests.oracles import leic_score
from tests.support.corpora import large_corpus
from tests.support.critiques import WIDTH, random_critique, small_recipe

CORPUS = large_corpus(300, seed=3).table()


def features_of(captions: Captions, model: str = "some-model", width: int = WIDTH) -> ImageFeatures:
    vectors = np.random.default_rng(1).normal(size=(len(captions), width)).astype(np.float32)
    return ImageFeatures(captions.ids, vectors, model)


@pytest.fixture(params=["none", "context", "only"])
def trained(request: pytest.FixtureRequest) -> CritiqueWeights:
    return random_critique(small_recipe("mlp", request.param))


@pytest.mark.parametrize("variant", Leic.variants)
def test_pieces_are_the_whole(trained: CritiqueWeights, variant: str) -> None:
    metric = Leic(weights=trained, images=features_of(CORPUS), variant=variant)
    whole = metric.statistics(CORPUS)
    n = len(CORPUS)
    parts = [metric.statistics(CORPUS.select(range(a, b))) for a, b in pairwise([0, 1, n // 3, n])]
    np.testing.assert_allclose(np.vstack(parts), whole, atol=1e-6)
    order = np.random.default_rng(2).permutation(n)
    np.testing.assert_allclose(metric.statistics(CORPUS.select(order)), whole[order], atol=1e-6)


def test_scores_are_those_of_the_oracle() -> None:
    trained = random_critique(small_recipe("mlp", "context"))
    captions = read_captions(
        {1: "a dog runs", 2: "", 3: "two red cats"}, {1: ["a brown dog", "dog"], 2: ["x"], 3: ["a sofa"]}
    )
    images = features_of(captions)
    arrays = trained.critique.arrays

    def slow(candidate: str, reference: str, row: int) -> float:
        vectors = [
            leic_score.sentence(arrays, [*(trained.numbers.get(word, 1) for word in text.split()), 3], "zeros")
            for text in (candidate, reference)
        ]
        return leic_score.human(arrays, "mlp", *vectors, images.vectors[row].tolist())

    every = [
        [slow(c, text, i) for text in texts]
        for i, (c, texts) in enumerate(
            zip(captions.candidates, (["a brown dog", "dog"], ["x"], ["a sofa"]), strict=True)
        )
    ]
    means = Leic(weights=trained, images=images, variant="paper").scores(captions)
    np.testing.assert_allclose(means, [np.mean(of_references) for of_references in every], atol=3e-6)
    drawn = set()
    for seed in range(10):
        scores = Leic(weights=trained, images=images, seed=seed).scores(captions)
        np.testing.assert_allclose(scores[1:], [of_references[0] for of_references in every[1:]], atol=3e-6)
        drawn.add(int(np.abs(np.array(every[0]) - scores[0]).argmin()))
        assert np.abs(np.array(every[0]) - scores[0]).min() < 3e-6
    assert drawn == {0, 1}


@pytest.mark.filterwarnings("ignore:.* empty or without words")
def test_the_signature_says_what_scores_depend_on(tmp_path: Path) -> None:
    trained = random_critique(small_recipe("mlp", "context"))
    trained.save(tmp_path / "c.safetensors")
    images = features_of(CORPUS)
    images.save(tmp_path / "f.npz")
    report = captious.score(
        list(CORPUS.candidates),
        [list(CORPUS.references.texts[a:b]) for a, b in pairwise(CORPUS.references.offsets.tolist())],
        [f"leic:weights={tmp_path / 'c.safetensors'},seed=3"],
        settings=Settings(images=tmp_path / "f.npz"),
    )
    (result,) = report.values()
    assert f"|weights:{trained.label}|images:{images.label}|seed:3|" in result.signature
    paper = Leic(weights=trained, images=images, variant="paper")
    assert "seed" not in paper.parameters
    assert Leic(weights=random_critique(small_recipe())).parameters.keys() == {"variant", "weights", "seed"}


def test_missing_image_features_are_counted() -> None:
    with pytest.raises(ParameterError, match="needs weights: a trained critique"):
        Leic()
    trained = random_critique(small_recipe("concat", "only"))
    with pytest.raises(ParameterError, match="needs the images"):
        Leic(weights=trained)
    with pytest.raises(ParameterError, match="3 numbers each, but the critique takes 5"):
        Leic(weights=trained, images=features_of(CORPUS, width=3))
    with pytest.raises(ParameterError, match="invalid seed for leic"):
        Leic(weights=random_critique(small_recipe()), seed=-1)
    few = features_of(CORPUS.select(range(5)))
    with pytest.raises(ParameterError, match=r"295 of 300 images have no image features"):
        Leic(weights=trained, images=few).scores(CORPUS)


def test_features_of_another_model_are_warned_of() -> None:
    trained = random_critique(small_recipe("concat", "only"))
    assert not Leic(weights=trained, images=features_of(CORPUS)).warnings(CORPUS, None)
    (warning,) = Leic(weights=trained, images=features_of(CORPUS, "other")).warnings(CORPUS, None)
    assert "some-model" in warning
    assert "other" in warning


def test_judged_captions_of_one_image_have_its_features() -> None:
    trained = random_critique(small_recipe("mlp", "only"))
    images = ImageFeatures((7, 8), np.random.default_rng(0).normal(size=(2, WIDTH)).astype(np.float32))
    table = references_table(["7|a", "7|b", "8|c"], [["a dog"], ["a dog"], ["a cat"]], ["7", "7", "8"])
    scores = Leic(weights=trained, images=images).scores(Captions(("a dog", "two cats", "a dog"), table))
    own = [
        Leic(weights=trained, images=images).scores(read_captions({i: text}, {i: ["x"]}))[0]
        for i, text in ((7, "a dog"), (7, "two cats"), (8, "a dog"))
    ]
    np.testing.assert_array_equal(scores, own)
    assert len({*own}) == 3


@pytest.mark.filterwarnings("ignore:.* empty or without words")
def test_leic_reward_depends_on_the_images() -> None:
    metric = Leic(weights=random_critique(small_recipe("mlp", "context")), images=features_of(CORPUS))
    drawn = np.random.default_rng(4).integers(0, len(CORPUS), 50)
    texts = [CORPUS.candidates[i] for i in drawn]
    rewards = captious.reward(CORPUS.references, metric)([CORPUS.ids[i] for i in drawn], texts)
    np.testing.assert_allclose(rewards, metric.scores(CORPUS)[drawn], atol=1e-6)


def test_a_replaced_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "c.safetensors"
    labels = []
    for seed in (0, 1):
        random_critique(small_recipe(), seed).save(file)
        labels.append(Leic(weights=file).parameters["weights"])
    assert labels[0] != labels[1]


def test_the_label_depends_on_the_recipe() -> None:
    zeros, words = (random_critique(small_recipe(cut=cut)) for cut in ("zeros", "first-words"))
    assert zeros.label != words.label


def test_unused_arguments_of_leic_are_refused() -> None:
    (warning,) = Leic(weights=random_critique(small_recipe()), images=features_of(CORPUS)).warnings(CORPUS, None)
    assert "sees no images" in warning
    with pytest.raises(ParameterError, match="reads all references"):
        Leic(weights=random_critique(small_recipe()), seed=1, variant="paper")
    with pytest.raises(ParameterError, match="invalid weights for leic: 5"):
        Leic(weights=5)  # type: ignore[arg-type]
