"""CLIP checkpoints in OpenAI's layout: vectors of another implementation, PAC-S and RefPAC-S."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("PIL")

import torch

from captious.errors import ParameterError, ResourceError
from captious.metrics.clipscore import ClipScore, RefClipScore
from captious.models import Encoder
from captious.models.clip import _clip, encode_images, encode_texts, images_in
from tests.support.corpora import table
from tests.support.openai_clip import PLACES, VOCABULARY, OpenAiClip, random_clip, save_checkpoint
from tests.support.tiny_clip import save_pictures, save_tiny_clip

pytestmark = pytest.mark.models

TEXTS = ["a dog runs", "", "two cats on a sofa " * 12]


@pytest.fixture(scope="module")
def official() -> OpenAiClip:
    return random_clip()


@pytest.fixture(scope="module")
def checkpoint(official: OpenAiClip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint in a folder with a tokenizer and an image processor."""
    folder = tmp_path_factory.mktemp("pac-s")
    save_tiny_clip(folder)
    for weights in (*folder.glob("*.safetensors"), folder / "config.json"):
        weights.unlink()
    return save_checkpoint(official, folder / "clip_ViT-B-32.pth")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_pictures(tmp_path_factory.mktemp("pictures"), [f"{i}.png" for i in range(len(TEXTS))])


def unit(tensor: Any) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().numpy()
    return array / np.linalg.norm(array, axis=1, keepdims=True)


def text_vectors(official: OpenAiClip, encoder: Encoder, texts: list[str]) -> NDArray[np.float32]:
    """Return the vectors of the official code: ids padded with zeros, cut with the last one kept."""
    rows = []
    for ids in _clip(encoder).tokenize(texts):
        ids = ids if len(ids) <= PLACES else ids[: PLACES - 1] + ids[-1:]
        rows.append(ids + [0] * (PLACES - len(ids)))
    return unit(official.encode_text(torch.tensor(rows)))


def image_vectors(official: OpenAiClip, encoder: Encoder, folder: Path) -> NDArray[np.float32]:
    pixels = np.stack([_clip(encoder).pixels(path) for path in images_in(folder)])
    return unit(official.encode_image(torch.from_numpy(pixels)))


def test_vectors_are_those_of_the_official_layout(official: OpenAiClip, checkpoint: Path, pictures: Path) -> None:
    encoder = Encoder(str(checkpoint))
    assert len(encoder.tokenizer) == VOCABULARY
    texts, cut = encode_texts(encoder, TEXTS)
    np.testing.assert_allclose(texts, text_vectors(official, encoder, TEXTS), atol=2e-6)
    assert cut.tolist() == [False, False, True]
    images = encode_images(encoder, images_in(pictures))
    np.testing.assert_allclose(images, image_vectors(official, encoder, pictures), atol=2e-6)


def test_pac_s_and_ref_pac_s_scores_equal_the_formula(official: OpenAiClip, checkpoint: Path, pictures: Path) -> None:
    encoder = Encoder(str(checkpoint))
    references = [["a dog", "the dog runs"], ["a cat"], ["cats", "sofa", "two cats"]]
    captions = table(TEXTS, references)
    images = image_vectors(official, encoder, pictures)

    def vectors(texts: list[str]) -> NDArray[np.float32]:
        return text_vectors(official, encoder, [f"A photo depicts {text}" for text in texts])

    pac = 2 * np.clip((images * vectors(TEXTS)).sum(axis=1), 0, None)
    closest = np.array([(vectors([t]) @ vectors(theirs).T).max() for t, theirs in zip(TEXTS, references, strict=True)])
    metric = ClipScore(variant="pac-s", model=str(checkpoint), images=pictures)
    np.testing.assert_allclose(metric.scores(captions), pac, atol=1e-5)
    assert metric.parameters["w"] == 2.0
    assert str(metric.parameters["model"]).startswith("clip_ViT-B-32.pth@")
    both = RefClipScore(variant="pac-s", model=str(checkpoint), images=pictures)
    expected = np.where(pac > 0, 2 * pac * closest / np.maximum(pac + closest, 1e-9), 0)
    np.testing.assert_allclose(both.scores(captions), expected, atol=1e-5)
    assert ClipScore(variant="pac-s", model=str(checkpoint), images=pictures, w=1.0).w == 1.0


def test_open_clip_has_another_activation(official: OpenAiClip, checkpoint: Path, tmp_path: Path) -> None:
    shutil.copytree(checkpoint.parent, tmp_path, dirs_exist_ok=True)
    other = save_checkpoint(official, tmp_path / "openClip_ViT-L-14.pth")
    texts, _ = encode_texts(Encoder(str(other)), TEXTS[:1])
    quick, _ = encode_texts(Encoder(str(checkpoint)), TEXTS[:1])
    assert 1e-4 < np.abs(texts - quick).max() < 0.2


def test_files_that_are_not_clip_checkpoints_are_refused(official: OpenAiClip, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="clipscore@pac-s needs a checkpoint"):
        ClipScore(variant="pac-s", images=tmp_path)
    (tmp_path / "text.pth").write_text("none")
    with pytest.raises(ResourceError, match="not a CLIP checkpoint"):
        encode_texts(Encoder(str(tmp_path / "text.pth")), ["a"])
    weights = {**official.state_dict(), "visual.attnpool.q_proj.weight": torch.zeros(2, 2)}
    torch.save({"state_dict": weights}, tmp_path / "resnet.pth")
    with pytest.raises(ResourceError, match="attnpool"):
        encode_texts(Encoder(str(tmp_path / "resnet.pth")), ["a"])
