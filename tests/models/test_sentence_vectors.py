"""Sentence vectors, equal to those of sentence-transformers, and its files in a model's folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from captious.data import References
from captious.errors import ResourceError
from captious.models import Encoder
from captious.models.sentences import most_tokens, phrase_vectors, sentence_vectors
from tests.support.encoders import MAX_LENGTH, save_tiny_encoder

pytestmark = pytest.mark.models

TEXTS = ["a dog runs", "", "A cat! " * 300, "Two men sit. They talk.", "a dog runs", "人"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_tiny_encoder("bert", tmp_path / "tiny")


def describe(folder: Path, pooling: dict[str, object], *, most: int | None = None, part: str = "Pooling") -> Encoder:
    """Write the files that sentence-transformers saves with a model."""
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"sentence_transformers.models.{part}"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    if most is not None:
        (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": most}))
    copy = folder.with_name(f"{folder.name}-{len([*folder.parent.iterdir()])}")
    shutil.copytree(folder, copy)
    return Encoder(str(copy))


def test_vectors_of_minilm_are_those_of_sentence_transformers(minilm: str) -> None:
    library = pytest.importorskip("sentence_transformers")
    found = sentence_vectors(Encoder(minilm, device="cpu"), TEXTS)
    expected = library.SentenceTransformer(minilm, device="cpu").encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(found.vectors, expected, atol=1e-6)
    assert found.cut.tolist() == [False, False, True, False, False, False]


@pytest.mark.parametrize(
    ("pooling", "pool"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True, "include_prompt": True}, "mean"),
        ({"pooling_mode_max_tokens": True}, "max"),
        ({"pooling_mode": "cls", "include_prompt": True}, "cls"),
    ],
)
def test_sentence_vectors_follow_the_pooling_of_the_model(folder: Path, pooling: dict[str, object], pool: str) -> None:
    encoder = describe(folder, pooling)
    (batch,) = encoder.run(encoder.tokenize(["a dog"]), [encoder.n_blocks])
    states = batch.hidden[encoder.n_blocks][0]
    expected = {"cls": states[0], "mean": states.mean(axis=0), "max": states.max(axis=0)}[pool]
    found = sentence_vectors(encoder, ["a dog"]).vectors[0]
    np.testing.assert_allclose(found, expected / np.linalg.norm(expected), atol=1e-6)


def test_texts_are_cut_where_the_model_says(folder: Path) -> None:
    encoder = describe(folder, {"pooling_mode": "mean"}, most=5)
    assert most_tokens(encoder) == 5
    found = sentence_vectors(encoder, ["a dog on", "a dog on the bus", "a dog on red"])
    assert found.cut.tolist() == [False, True, True]
    shorter = sentence_vectors(encoder, ["a dog on the"]).vectors[0]
    np.testing.assert_allclose(found.vectors[1], shorter, atol=1e-6)


def test_a_model_without_files_of_sentence_transformers_takes_the_mean(folder: Path) -> None:
    encoder = Encoder(str(folder))
    assert most_tokens(encoder) == MAX_LENGTH
    assert not sentence_vectors(encoder, ["a dog"]).cut.any()


@pytest.mark.parametrize(
    ("pooling", "part", "message"),
    [
        ({"pooling_mode_weightedmean_tokens": True}, "Pooling", "weightedmean_tokens"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, "Pooling", "cls_token, mean_tokens"),
        ({}, "Dense", "a part that captious does not have: Dense"),
    ],
)
def test_models_without_sentence_vectors_are_refused(
    folder: Path, pooling: dict[str, object], part: str, message: str
) -> None:
    with pytest.raises(ResourceError, match=message):
        sentence_vectors(describe(folder, pooling, part=part), ["a dog"])


def test_phrases_are_kept_with_the_references(folder: Path) -> None:
    encoder = Encoder(str(folder))
    references = References((1,), ("a dog",), np.array([0, 1]))
    first = phrase_vectors(encoder, ["a dog", "red bus", "a dog"], references)
    np.testing.assert_array_equal(first, sentence_vectors(encoder, ["a dog", "red bus", "a dog"]).vectors)
    np.testing.assert_array_equal(phrase_vectors(encoder, ["red bus"], references), first[1:2])
    assert phrase_vectors(encoder, [], references).shape == (0, encoder.width)
