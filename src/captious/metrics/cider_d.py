"""CIDEr-D: CIDEr made robust against gaming, by clipping and a Gaussian penalty on length differences.

Vedantam, Zitnick and Parikh 2015, section 7; Chen et al. 2015 (COCO). The official variant is the COCO
caption toolkit, which reports it as "CIDEr".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from captious.metrics.cider import Cider, WeightLayer
from captious.metrics.contract.parameters import NumberParameter
from captious.metrics.shared.frequencies.document_frequencies import DocumentFrequencies


class CiderD(Cider):
    """CIDEr-D, 0 to 10, higher is better. The corpus score is the mean."""

    name = "cider-d"
    summary = "CIDEr with clipped weights and a length penalty; the COCO toolkit's CIDEr"
    variants: ClassVar[Mapping[str, str]] = {
        "official": "COCO toolkit: raw counts are clipped, lengths are counted in bigrams",
        "paper": "counts relative to the caption's n-grams are clipped, lengths are counted in words",
    }

    sigma: NumberParameter[float] = NumberParameter(
        default=6.0, least=0.001, summary="width of the length penalty, in words"
    )

    @property
    def scale(self) -> float:
        return 10.0

    def factor(self, candidate: Sequence[str], reference: Sequence[str]) -> float:
        lengths = len(candidate), len(reference)
        a, b = lengths if self.variant == "paper" else (max(length - 1, 0) for length in lengths)
        return math.exp(-((a - b) ** 2) / (2 * self.sigma**2))

    @property
    def factor_parameters(self) -> Mapping[str, str | float]:
        return {"kind": "length", "sigma": self.sigma, "in_words": self.variant == "paper"}

    def weights(self, idf: DocumentFrequencies) -> WeightLayer:
        paper = self.variant == "paper"
        return WeightLayer(self.tokenizer, idf, sigma=self.sigma, clip=True, relative=paper, length_in_words=paper)
