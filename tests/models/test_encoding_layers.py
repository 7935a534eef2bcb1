"""Annotation layers of encoders: each distinct text is encoded once, whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from captious.data import Captions
from captious.models import Encoder, EncodingLayer, TextLayer, encoders
from captious.models import encoders as token_vectors
from tests.support.corpora import table

pytestmark = pytest.mark.models

pytest.importorskip("torch")
pytest.importorskip("transformers")

REFERENCES = [["a dog", "the cat"], ["a dog"], ["", "the cat", "a man on a bus"], ["a red bus"]]
CANDIDATES = ["the cat", "a bus", "a bus", "a dog runs"]
DISTINCT = {text for texts in REFERENCES for text in texts} | set(CANDIDATES)


@pytest.fixture
def encoder(tiny_encoder: Callable[[str], Path]) -> Encoder:
    return Encoder(str(tiny_encoder("bert")), device="cpu")


@pytest.fixture
def encoded_texts(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The token ids of every text that goes through the model, as it does."""
    encoded: list[tuple[int, ...]] = []
    model = encoders.loaded_weights(encoder).model
    forward = model.forward

    def counting(*args: Any, **kwargs: Any) -> Any:
        encoded.extend(map(tuple, kwargs["input_ids"].tolist()))
        return forward(*args, **kwargs)

    monkeypatch.setattr(model, "forward", counting)
    return encoded


def alone(encoder: Encoder, text: str, layer: int) -> NDArray[np.float32]:
    (batch,) = encoder.run(encoder.tokenize([text]), [layer])
    states: NDArray[np.float32] = batch.hidden[layer][0]
    return states


@pytest.mark.parametrize("in_memory", [True, False], ids=["memory", "file"])
def test_every_caption_has_its_states(encoder: Encoder, in_memory: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not in_memory:
        monkeypatch.setattr(token_vectors, "_MEMORY_LIMIT", -1)
    captions = table(CANDIDATES, REFERENCES)
    layers = captions.layer(EncodingLayer(encoder, 2))
    for encoded, texts in zip(layers, (captions.candidates, captions.references.texts), strict=True):
        assert len(encoded) == len(texts)
        assert len(encoded.texts) == len(set(texts))
        for caption, text in enumerate(texts):
            row = int(encoded.rows[caption])
            assert encoded.texts[row] == text
            assert encoded.ids[row] == encoder.tokenize([text])[0]
            np.testing.assert_allclose(encoded.vectors.read(row), alone(encoder, text, 2), atol=1e-6)


def test_each_distinct_text_is_encoded_once(encoder: Encoder, encoded_texts: list[tuple[int, ...]]) -> None:
    captions = table(CANDIDATES, REFERENCES)
    captions.layer(EncodingLayer(encoder, 2))
    assert sorted(encoded_texts) == sorted(map(tuple, encoder.tokenize(sorted(DISTINCT))))
    captions.layer(EncodingLayer(encoder, 2))  # another metric
    captions.layer(EncodingLayer(Encoder(encoder.model, device="cpu"), 2))  # that made an encoder of its own
    assert len(encoded_texts) == len(DISTINCT)
    other = Captions(("a dog", "a red bus", "", "the the"), captions.references)
    other.layer(EncodingLayer(encoder, 2))  # another system: one text is new
    assert encoded_texts[len(DISTINCT) :] == [tuple(encoder.tokenize(["the the"])[0])]


def test_each_layer_of_an_encoder_is_its_own_annotation(encoder: Encoder, encoded_texts: list[tuple[int, ...]]) -> None:
    captions = table(CANDIDATES, REFERENCES)
    first, second = (captions.layer(EncodingLayer(encoder, layer))[0] for layer in (1, 2))
    assert len(encoded_texts) == 2 * len(DISTINCT)
    assert np.abs(first.vectors.read(0) - second.vectors.read(0)).max() > 0.01


def test_texts_can_be_stripped_and_led_by_a_blank(tiny_encoder: Callable[[str], Path]) -> None:
    encoder = Encoder(str(tiny_encoder("roberta")), device="cpu")
    captions = table([" a dog ", "  "], [["a dog"], ["a dog\n"]])
    layer = EncodingLayer(encoder, 1, lead=" ")
    candidates, references = captions.layer(layer)
    assert candidates.texts == [" a dog", ""]
    assert references.texts == [" a dog"]
    assert candidates.ids == encoder.tokenize([" a dog", ""])
    as_they_are = captions.layer(EncodingLayer(encoder, 1))[1]
    assert as_they_are.texts == ["a dog", "a dog\n"]
    assert layer != EncodingLayer(encoder, 1, lead="")


def test_empty_table_has_no_states(encoder: Encoder) -> None:
    candidates, references = table([], []).layer(EncodingLayer(encoder, 1))
    assert len(candidates) == len(references) == 0


def test_functions_of_texts_see_each_once() -> None:
    texts_of_calls: list[str] = []

    def lengths(texts: Any) -> NDArray[Any]:
        texts_of_calls.extend(texts)
        return np.array([len(text) for text in texts])

    captions = table(CANDIDATES, REFERENCES)
    for _ in range(2):
        candidates, references = captions.layer(TextLayer("length", lengths))
    assert candidates.tolist() == [len(text) for text in CANDIDATES]
    assert references.tolist() == [len(text) for texts in REFERENCES for text in texts]
    assert texts_of_calls == [
        *dict.fromkeys(text for texts in REFERENCES for text in texts),
        *dict.fromkeys(CANDIDATES),
    ]
