"""CIDEr-D: CIDEr made robust against gaming, by clipping and a Gaussian penalty on the difference in length.

Vedantam, Zitnick and Parikh 2015, section 7; Chen et al. 2015 (COCO). The official variant is the COCO
caption toolkit, which reports it as "CIDEr".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from captious.metrics.cider import Cider, _WeightLayer
from captious.metrics.contract.ranges import LARGE, number
from captious.metrics.shared.document_frequencies import DocumentFrequencies
from captious.text import Tokenizer

__all__ = ["CiderD"]


class CiderD(Cider):
    """CIDEr-D, 0 to 10, higher is better. The corpus score is the mean.

    Args:
        idf: document frequencies, or a file of them; None to count the references that are scored against.
        sigma: width of the Gaussian length penalty, in words; 0.001 to 1,000,000.

    Raises:
        ParameterError: a sigma outside its range.
    """

    name = "cider-d"
    summary = "CIDEr with clipped weights and a length penalty; the COCO toolkit's CIDEr"
    variants: ClassVar[Mapping[str, str]] = {
        "official": "COCO toolkit: raw counts are clipped, lengths are counted in bigrams",
        "paper": "counts relative to the caption's n-grams are clipped, lengths are counted in words",
    }

    def __init__(
        self,
        idf: DocumentFrequencies | str | os.PathLike[str] | None = None,
        *,
        sigma: float = 6.0,
        variant: str | None = None,
        tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        super().__init__(idf, variant=variant, tokenizer=tokenizer)
        self.sigma = number(self.name, "sigma", sigma, 0.001, LARGE)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "sigma": self.sigma}

    @property
    def scale(self) -> float:
        return 10.0

    def _weights(self, idf: DocumentFrequencies) -> _WeightLayer:
        paper = self.variant == "paper"
        return _WeightLayer(self.tokenizer, idf, sigma=self.sigma, clip=True, relative=paper, length_in_words=paper)
