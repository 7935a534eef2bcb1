"""RefCLIPScore: similarity of a caption with its image and its best reference, by CLIP.

Hessel et al. 2021, section 3. The official variant is the code of its authors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.clipscore import ClipScore, cosines
from captious.metrics.contract.metric import State
from captious.models.clip import ClipTexts, PromptedReferences

_IMAGES_AT_A_TIME = 4096


class RefClipScore(ClipScore):
    """Harmonic mean of CLIPScore and max(largest cosine of the candidate with a reference, 0); higher is better.

    Scores range from 0 to 2 w / (1 + w), which is 1.43 for w = 2.5; they are 0 if either of the two is 0. References
    have the same prompt. Parameters are those of ``ClipScore``.
    """

    name = "refclipscore"
    summary = "CLIP similarity of candidate to image and to the best reference"
    needs_references = True
    variants: ClassVar[Mapping[str, str]] = {
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
        closest = np.maximum(closest, 0)
        total = image + closest
        return np.divide(2 * image * closest, total, out=np.zeros_like(total), where=total > 0)

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        return super().warnings(captions, state) + self._cut(self._references(captions), "reference")

    def _references(self, captions: Captions) -> ClipTexts:
        return captions.references.layer(PromptedReferences(self.encoder, self.prompt))
