"""CLIPScore and RefCLIPScore: similarity of a caption and its image by CLIP, without and with references."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError, setting
from captious.metrics.contract.metric import State
from captious.metrics.contract.parameters import NumberParameter, ResourceParameter, TextParameter
from captious.metrics.shared.arithmetic import f_measure
from captious.metrics.shared.encoder_metric import EncoderMetric, EncoderParameter, cut_warning
from captious.models.clip import ImageLayer, PromptedCandidates, PromptedReferences, max_tokens, missing_clip
from captious.models.encoders import TextVectors
from captious.words import shortened

# CLIPScore: similarity of a caption and its image by CLIP, without references.
#
# Hessel et al. 2021, section 3. The official variant is the code of its authors.

_PAC_W = 2.0


class _ImageFolder(ResourceParameter[str | os.PathLike[str] | None, Path]):
    """The folder of the image files; see ``captious.models.clip.find_images``."""

    required = True

    def check(self, metric: Any, value: Any) -> Path:
        if not isinstance(value, str | os.PathLike):
            raise ParameterError(
                f"{metric.name} needs the images" + (f", and {shortened(value)} is not a folder" if value else ""),
                hint=f"give the folder of image files: {setting('images', 'DIR')}",
            )
        return Path(value)


class ClipScore(EncoderMetric):
    """w max(cos(image, prompt + candidate), 0) in the space of CLIP; 0 to w, higher is better. References are not used.

    Raises:
        ParameterError: no folder of images, or a w outside its range.
    """

    name = "clipscore"
    bounds = (0.0, 2.5)
    summary = "CLIP similarity of candidate and image, without references"
    variants = {
        "official": "CLIPScore's code: 2.5 times the cosine, at least 0",
        "pac-s": "PAC-S's code: twice the cosine, with a checkpoint of its authors",
    }
    default_models = ("openai/clip-vit-base-patch32",)
    _requirements = (missing_clip,)
    needs_references = False

    model: EncoderParameter = EncoderParameter(default=None, summary="CLIP model; none for that of the paper")
    images: _ImageFolder = _ImageFolder(
        in_labels=False, default=None, summary="folder of image files, named by image id", signature_key=""
    )
    prompt: TextParameter = TextParameter(
        default="A photo depicts", summary="put before every caption, followed by a space"
    )
    w: NumberParameter[float] = NumberParameter(
        default=2.5, least=0.001, summary="factor that stretches scores to about 0 to 1; 2 in pac-s unless it is given"
    )

    def setup(self) -> None:
        if self.variant != "pac-s":
            return
        if self.arguments.get("model") is None:
            raise ParameterError(
                f"{self.name}@pac-s needs a checkpoint of PAC-S",
                hint=f"give the file of its authors: {setting('model', 'clip_ViT-B-32.pth')}",
            )
        if "w" not in self.arguments:
            self.w = _PAC_W

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        images = captions.references.layer(ImageLayer(self.encoder, self.images))
        candidates = self._candidates(captions).vectors
        return self.w * np.maximum(cosines(images, candidates), 0)

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        return self._cut(self._candidates(captions), "candidate")

    def _candidates(self, captions: Captions) -> TextVectors:
        return captions.own_layer(PromptedCandidates(self.encoder, self.prompt))

    def _cut(self, texts: TextVectors, what: str) -> list[str]:
        most = max_tokens(self.encoder)
        return cut_warning(texts.cut, what, self.encoder.model, most, including=", including the prompt")


def cosines(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return cosines of unit vectors, row by row: float32[n, d] and float32[n, d] to float64[n], -1 to 1."""
    return np.asarray((a.astype(np.float64) * b).sum(axis=1))


# RefCLIPScore: similarity of a caption with its image and its best reference, by CLIP.
#
# Hessel et al. 2021, section 3. The official variant is the code of its authors.

_IMAGES_AT_A_TIME = 4096


class RefClipScore(ClipScore):
    """Harmonic mean of CLIPScore and max(largest cosine of the candidate with a reference, 0); higher is better.

    Scores range from 0 to 2 w / (1 + w), which is 1.43 for w = 2.5; they are 0 if either of the two is 0. References
    have the same prompt. Parameters are those of ``ClipScore``.
    """

    name = "refclipscore"
    bounds = (0.0, 10 / 7)
    summary = "CLIP similarity of candidate to image and to the best reference"
    needs_references = True
    variants = {
        "official": "CLIPScore's code: harmonic mean with the closest reference",
        "pac-s": "RefPAC-S: the same of PAC-S, with a checkpoint of its authors",
    }

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        image = super().scores(captions, state)
        candidates, texts = self._candidates(captions).vectors, self._references(captions)
        references = captions.references
        closest = np.empty(len(captions))
        for start in range(0, len(captions), _IMAGES_AT_A_TIME):
            stop = min(start + _IMAGES_AT_A_TIME, len(captions))
            offsets = references.offsets[start : stop + 1]
            vectors = texts.vectors[offsets[0] : offsets[-1]]
            repeated = np.repeat(candidates[start:stop], np.diff(offsets), axis=0)
            closest[start:stop] = np.maximum.reduceat(cosines(repeated, vectors), offsets[:-1] - offsets[0])
        return f_measure(image, np.maximum(closest, 0))

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        return super().warnings(captions, state) + self._cut(self._references(captions), "reference")

    def _references(self, captions: Captions) -> TextVectors:
        return captions.references.layer(PromptedReferences(self.encoder, self.prompt))
