"""CIDEr-D: CIDEr made robust against gaming, by clipping and a Gaussian penalty on the difference in length.

Vedantam, Zitnick and Parikh 2015, section 7; Chen et al. 2015 (COCO). The official variant is the COCO
caption toolkit, which reports it as "CIDEr".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from captious.metrics.cider import Cider, _WeightLayer
from captious.metrics.contract.parameters import Number
from captious.metrics.shared.document_frequencies import DocumentFrequencies

__all__ = ["CiderD"]


class CiderD(Cider):
    """CIDEr-D, 0 to 10, higher is better. The corpus score is the mean."""

    name = "cider-d"
    summary = "CIDEr with clipped weights and a length penalty; the COCO toolkit's CIDEr"
    variants: ClassVar[Mapping[str, str]] = {
        "official": "COCO toolkit: raw counts are clipped, lengths are counted in bigrams",
        "paper": "counts relative to the caption's n-grams are clipped, lengths are counted in words",
    }

    sigma: Number[float] = Number(default=6.0, least=0.001, summary="width of the length penalty, in words")

    @property
    def scale(self) -> float:
        return 10.0

    def _weights(self, idf: DocumentFrequencies) -> _WeightLayer:
        paper = self.variant == "paper"
        return _WeightLayer(self.tokenizer, idf, sigma=self.sigma, clip=True, relative=paper, length_in_words=paper)
