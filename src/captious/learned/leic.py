"""LEIC: a trained critique that reads a caption together with a reference, the image, or both.

Cui, Yang, Veit, Huang and Belongie 2018, "Learning to evaluate image captioning". The official code is
github.com/richardaecn/cvpr18-caption-eval.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError
from captious.learned.critique.critique_scores import critique_scores
from captious.learned.critique.critique_weights import CritiqueWeights
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import IntegerParameter, ResourceParameter
from captious.models.image_features import ImageFeatures

_HELP = "train one: captious learn critique REFERENCES -o FILE; then leic:weights=FILE"


class _Weights(ResourceParameter[CritiqueWeights | str | os.PathLike[str] | None, Any]):
    """A critique, or its file; the package has none."""

    required = True


class _Images(ResourceParameter[ImageFeatures | str | os.PathLike[str] | None, Any]):
    """Features of the images, or their file."""

    in_labels = False


class Leic(MeanMetric):
    """LEIC, 0 to 1, higher is better: the probability that a person wrote the caption. The corpus score is the mean.

    Raises:
        ParameterError: no weights, no image features for a critique that needs them, or features of another width.
        ResourceError: an unusable file.
    """

    name = "leic"
    summary = "trained critique over a reference and the image: the probability of a human caption"
    variants: ClassVar[Mapping[str, str]] = {
        "official": "the official code: one random reference of each image is read",
        "paper": "the mean over all references of the image",
    }

    without_parameters = frozenset({"tokenizer"})
    weights: _Weights = _Weights(default=None, summary="a critique: a file that 'captious learn critique' wrote")
    images: _Images = _Images(
        default=None,
        summary="features of the images: a file of 'captious learn image-features'; for critiques of images",
    )
    seed: IntegerParameter[int | None] = IntegerParameter(
        default=None,
        most=(1 << 32) - 1,
        summary="which reference the critique reads; for the official variant alone, where none is 0",
    )

    def setup(self) -> None:
        if self.weights is None:
            raise ParameterError("leic needs weights: a trained critique", help=_HELP)
        if self.seed is not None and self.variant != "official":
            raise ParameterError(f"leic@{self.variant} reads all references", help="remove seed, or the variant")
        weights = self.weights
        self.trained = (
            weights if isinstance(weights, CritiqueWeights) else CritiqueWeights.load(_path(weights, "weights"))
        )
        critique = self.trained.critique
        images, self.features = self.images, None
        self._ignored = critique.recipe.images == "none" and images is not None
        if critique.recipe.images == "none":
            return
        if images is None:
            raise ParameterError(
                f"the critique {self.trained.label} needs the images",
                help="give a file of image features: --images FEATURES (captious learn image-features DIR -o FEATURES)",
            )
        self.features = images if isinstance(images, ImageFeatures) else ImageFeatures.load(_path(images, "images"))
        if self.features.width != critique.image_width:
            raise ParameterError(
                f"these image features are {self.features.width:,} numbers each, but the critique takes "
                f"{critique.image_width:,}",
                where=self.features.label,
                help=f"compute features with the model of its training: {self.trained.image_model or 'unknown'}",
            )

    @property
    def parameters(self) -> Mapping[str, object]:
        values: dict[str, object] = {"variant": self.variant, "weights": self.trained.label}
        if self.features is not None:
            values["images"] = self.features.label
        if self.variant == "official" and self.trained.critique.recipe.images != "only":
            values["seed"] = self.seed or 0
        return values

    @property
    def tokens(self) -> str:
        return "treebank"

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        seed = (self.seed or 0) if self.variant == "official" else None
        return critique_scores(self.trained, captions, self.features, seed=seed)

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        messages = super().warnings(captions, state)
        if self._ignored:
            messages.append(f"the critique {self.trained.label} sees no images: the given ones are not used.")
        trained_with = self.trained.image_model
        if self.features is not None and trained_with and self.features.model != trained_with:
            messages.append(
                f"the critique was trained with image features of {trained_with}, but these are of "
                f"{self.features.model or 'an unknown model'}."
            )
        return messages


def _path(value: object, name: str) -> str:
    if not isinstance(value, str | os.PathLike):
        raise ParameterError(
            f"{value!r:.60} cannot be used as {name} of leic", help="give a file, or what was read from it"
        )
    return os.fspath(value)
