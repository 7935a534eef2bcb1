"""MIMA and SPURTS against a slow reimplementation, on MiniLM and on a random model of RoBERTa's shape."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError
from captious.metrics.shared.encoder_metric import FlowLayer, information_flow, normalized_information
from captious.metrics.smurf import Mima, Spurts
from captious.models import Encoder, encoders
from captious.text.tokenizers import smurf_text
from tests.oracles import smurf as oracle
from tests.support.corpora import references_table
from tests.support.random_roberta import CAPTIONS

pytestmark = pytest.mark.models

pytest.importorskip("torch")
pytest.importorskip("transformers")

ODD = ["", " .", "?", "the", "A Dog.", "a dog, a cat!", "two  blanks", "Ünïcode 🐶", "don't", " a leading blank", "..."]


@pytest.fixture
def real(shared_data: Path) -> Callable[[int], list[str]]:
    """Captions of the four captioners of the Karpathy test split."""

    def captions(count: int) -> list[str]:
        with gzip.open(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz", "rt", encoding="utf-8") as lines:
            images = [json.loads(line)["captions"] for _, line in zip(range(-(-count // 4)), lines, strict=False)]
        return [caption for of_image in images for caption in of_image][:count]

    return captions


def beside_nothing(texts: list[str]) -> Captions:
    return Captions(tuple(texts), references_table([[""]] * len(texts)))


def scores_in_batches(metric: Mima | Spurts, texts: list[str], tokens: int) -> NDArray[np.float64]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoders, "_TOKENS_PER_BATCH", tokens)
        patch.setattr(encoders, "_TOKENS_PER_BATCH_GPU", tokens)
        return metric.scores(beside_nothing(texts))


def expected(model: str, texts: list[str], stop_words: str, batch_size: int = 1) -> NDArray[np.float64]:
    flows = np.array(oracle.Oracle(model).flows(texts, stop_words, batch_size))
    return np.where(np.isnan(flows), 0, flows) if stop_words != "stay" else np.where(np.isnan(flows), 0, 1 - flows)


def all_three(model: str) -> list[tuple[Mima | Spurts, str]]:
    return [
        (Mima(model=model), "stay"),
        (Spurts(model=model), "masked"),
        (Spurts(model=model, variant="paper"), "removed"),
    ]


def check(model: str, texts: list[str], padded: bool = False) -> None:
    """Ours, one at a time and together, against the oracle, one at a time and on padded batches."""
    for metric, stop_words in all_three(model):
        oracle_scores = expected(model, texts, stop_words)
        alone = scores_in_batches(metric, texts, tokens=1)
        together = scores_in_batches(metric, texts, tokens=64 * 64)
        np.testing.assert_allclose(alone, oracle_scores, rtol=0, atol=1e-6)
        np.testing.assert_allclose(together, oracle_scores, rtol=0, atol=1e-6)
        if padded:
            oracle_scores = expected(model, texts, stop_words, batch_size=64)
            np.testing.assert_allclose(together, oracle_scores, rtol=0, atol=5e-6)
        assert np.ptp(oracle_scores[oracle_scores > 0]) > 0.02, "all captions score the same"


def test_information_flow_of_roberta_shape_equals_the_oracle(roberta: str) -> None:
    check(roberta, CAPTIONS + ODD, padded=True)


@pytest.mark.parametrize("count", [8, pytest.param(500, marks=[pytest.mark.slow, pytest.mark.nightly])])
def test_information_flow_of_minilm_equals_the_oracle(
    minilm: str, real: Callable[[int], list[str]], count: int
) -> None:
    check(minilm, real(count) + ODD[:3])


@pytest.mark.slow
def test_information_flow_of_roberta_equals_the_oracle(roberta: str, real: Callable[[int], list[str]]) -> None:
    check(roberta, real(500))


@pytest.mark.parametrize("metric", [Mima, Spurts])
def test_information_flow_equals_the_published_values(
    metric: type[Mima | Spurts], shared_data: Path, real: Callable[[int], list[str]]
) -> None:
    """The values are those in the authors' repository."""
    from huggingface_hub import try_to_load_from_cache

    if not isinstance(try_to_load_from_cache(metric.default_models[0], "config.json"), str):
        pytest.skip(f"not here: {metric.default_models[0]} is not on this machine")
    texts = real(200)
    with gzip.open(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz", "rt", encoding="utf-8") as lines:
        scores = [json.loads(line)["smurf_scores"] for _, line in zip(range(50), lines, strict=False)]
    shipped = [caption[metric.name.upper()] for of_image in scores for caption in of_image]
    np.testing.assert_allclose(metric().scores(beside_nothing(texts)), shipped, rtol=0, atol=1e-4)


def test_stop_words_are_replaced_by_padding(roberta: str) -> None:
    encoder = Encoder(roberta)
    pieces = encoder.tokenizer.convert_ids_to_tokens
    layer = FlowLayer(encoder, "masked")
    ids = layer._remove_stop_words(encoder.tokenize(["the man, on a hill"]))[0]
    assert pieces(ids)[:2] == ["<s>", "<pad>"]
    assert pieces(ids).count("<pad>") == 3
    assert not {",", "Ġon", "Ġa", "the"} & {*pieces(ids)}
    assert pieces(ids)[-1] == "</s>"


def test_tokens_before_and_after_padding_change_the_flow(roberta: str) -> None:
    """Masked is not removed: positions that attend remain."""
    texts = beside_nothing(["a man on a hill", "a dog runs in the park"])
    masked, removed = (Spurts(model=roberta, variant=variant).scores(texts) for variant in ("official", "paper"))
    assert (np.abs(masked - removed) > 1e-3).all()


def test_texts_are_known_by_what_is_read_of_them(roberta: str) -> None:
    scores = Mima(model=roberta).scores(beside_nothing(["A dog runs.", "a dog runs", "a dog runs . "]))
    assert np.ptp(scores) == 0
    assert smurf_text("A dog . runs. ") == "a dog runs"


def test_each_text_runs_once(roberta: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when systems share references, and metrics a model."""
    ran: list[int] = []
    run = Encoder.run

    def counted(self: Encoder, sequences: list[list[int]], *args: object, **options: object) -> object:
        ran.append(len(sequences))
        return run(self, sequences, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Encoder, "run", counted)
    references = references_table([[""]] * 3)
    first = Captions(("a dog", "a cat", "a dog"), references)
    Mima(model=roberta).scores(first)
    Mima(model=roberta).scores(first)
    assert ran == [2]
    Mima(model=roberta).scores(Captions(("a dog", "a bird", "a cat"), references))
    assert ran == [2, 1]


def test_normalized_information_of_a_map_equals_the_oracle() -> None:
    one_to_one = np.eye(4)
    to_one = np.zeros((4, 4))
    to_one[:, 2] = 1
    spread = np.full((4, 4), 0.25)
    random = np.random.default_rng(0).dirichlet(np.ones(5), (2, 3, 5))
    np.testing.assert_allclose(normalized_information(np.stack([one_to_one, to_one, spread])), [1, 0, 0], atol=1e-15)
    expected_information = [[oracle.mutual_information(head.tolist()) for head in layer] for layer in random]
    np.testing.assert_allclose(normalized_information(random), expected_information, rtol=1e-12)
    np.testing.assert_allclose(normalized_information(random * 7), expected_information, rtol=1e-12)


def test_a_single_token_has_no_flow(roberta: str) -> None:
    flow = information_flow(Encoder(roberta), [[5], [0, 5, 2], []])
    assert np.isnan(flow).tolist() == [True, False, True]


def test_captions_without_words_have_defined_scores(roberta: str) -> None:
    assert Mima(model=roberta).scores(beside_nothing([])).shape == (0,)
    np.testing.assert_array_equal(Spurts(model=roberta).scores(beside_nothing(["", "."])), [0, 0])


def test_a_model_without_padding_cannot_mask(roberta: str, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder(roberta)
    bare = SimpleNamespace(pad_token_id=None, convert_ids_to_tokens=encoder.tokenizer.convert_ids_to_tokens)
    monkeypatch.setattr(Encoder, "tokenizer", bare)
    with pytest.raises(ParameterError, match="no padding token"):
        FlowLayer(encoder, "masked")._remove_stop_words([[0, 5, 2]])
