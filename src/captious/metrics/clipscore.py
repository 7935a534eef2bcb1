"""CLIPScore: how well a caption fits its image, by CLIP, without references.

Hessel et al. 2021, section 3. The official variant is the code of its authors.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError
from captious.metrics.base import Settings, State
from captious.metrics.encoder_metric import EncoderMetric
from captious.metrics.ranges import LARGE, number
from captious.models import Encoder
from captious.models.clip import ClipTexts, ImageLayer, PromptedLayer, missing_clip

__all__ = ["ClipScore", "cosines"]


class ClipScore(EncoderMetric):
    """w max(cos(image, prompt + candidate), 0) in the space of CLIP; 0..w, higher is better. References do not matter.

    Args:
        images: folder of the image files, named by image id; see ``captious.models.images.find_images``.
        encoder: the CLIP model, or its name on the Hugging Face hub, or its folder; by default that of the publication.
        prompt: what is put before every caption, with a blank.
        w: the factor that stretches scores to about 0..1, greater than 0.
        variant: one of ``variants``.

    Raises:
        ParameterError: no folder of images, or a w outside its range.
    """

    name = "clipscore"
    summary = "fit of candidate and image by CLIP, without references"
    variants: ClassVar[Mapping[str, str]] = {"official": "CLIPScore's code: cosine times 2.5, not below 0"}
    default_models = ("openai/clip-vit-base-patch32",)

    def __init__(
        self,
        images: str | os.PathLike[str] | None = None,
        encoder: Encoder | str | None = None,
        *,
        prompt: str = "A photo depicts",
        w: float = 2.5,
        variant: str | None = None,
    ) -> None:
        super().__init__(encoder, variant=variant)
        if images is None:
            raise ParameterError(
                f"{self.name} has to see the images",
                help="give the folder of image files: --images DIR (images=DIR in Python)",
            )
        self.images = Path(images)
        self.prompt = prompt
        self.w = number(self.name, "w", w, 0.001, LARGE)

    @classmethod
    def from_settings(cls, settings: Settings, *, variant: str | None = None, **parameters: Any) -> ClipScore:
        return cls(**{"images": settings.images, "encoder": settings.encoder, **parameters}, variant=variant)

    @classmethod
    def missing(cls) -> str | None:
        return missing_clip()

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "prompt": self.prompt, "w": self.w}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        images = captions.references.layer(ImageLayer(self.encoder, self.images))
        candidates, _ = self._texts(captions)
        return self.w * np.maximum(cosines(images, candidates), 0)

    def cautions(self, captions: Captions, state: State | None) -> list[str]:
        _, texts = self._texts(captions)
        return self._cut(texts, captions.candidates, "candidates")

    def _texts(self, captions: Captions) -> tuple[NDArray[np.float32], ClipTexts]:
        """Unit vectors of the candidates, and what encodes other texts."""
        return captions.layer(PromptedLayer(self.encoder, self.prompt))

    def _cut(self, encoded: ClipTexts, texts: tuple[str, ...], what: str) -> list[str]:
        if (n := encoded.n_cut(texts)) == 0:
            return []
        return [
            f"{n:,} of {len(texts):,} {what} are longer than the {encoded.max_tokens} tokens that "
            f"{self.encoder.model} reads, prompt included: they were cut there."
        ]


def cosines(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float64]:
    """Cosines of unit vectors, row by row: float32[n, d] and float32[n, d] to float64[n], -1..1."""
    return np.asarray((a.astype(np.float64) * b).sum(axis=1))
