"""SPIDEr: the mean of SPICE, which looks at what captions say, and CIDEr-D, which looks at how people say it.

Liu, Zhu, Ye, Guadarrama and Murphy 2017, "Improved image captioning via policy gradient optimization of SPIDEr".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.metrics.cider_d import CiderD
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import Metric
from captious.metrics.shared.document_frequencies import DocumentFrequencies
from captious.metrics.spice import Spice
from captious.parsing.parsed_captions import ParseSource
from captious.text import Tokenizer

__all__ = ["Spider"]


class Spider(Combined):
    """SPIDEr, 0 to 5.5, higher is better: half of SPICE plus half of CIDEr-D. The corpus score is the mean.

    Args:
        idf: document frequencies, or a file of them; None to count the references that are scored against.
        sigma: width of CIDEr-D's Gaussian length penalty, in words.
        parser: where SPICE gets its parses from; see ``Spice``.
        variant: see ``variants``.
        tokenizer: see ``captious.text.as_tokenizer``; None for the one that ``idf`` was counted with, or "ptb".

    Raises:
        MissingExtraError: METEOR's tables, which have SPICE's synonyms, are not installed.
    """

    name = "spider"
    learns = "document frequencies"
    summary = "mean of SPICE and CIDEr-D"
    variants: ClassVar[Mapping[str, str]] = {"official": "mean of spice and cider-d, both official, per caption"}
    part_classes = (Spice, CiderD)

    def __init__(
        self,
        idf: DocumentFrequencies | str | os.PathLike[str] | None = None,
        *,
        sigma: float = 6.0,
        parser: ParseSource | str | os.PathLike[str] | None = None,
        variant: str | None = None,
        tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        self.cider_d = CiderD(idf, sigma=sigma, tokenizer=tokenizer)
        self.spice = Spice(parser=parser, tokenizer=self.cider_d.tokenizer)
        parts: list[tuple[Metric, str]] = [(self.spice, "spice"), (self.cider_d, "cider-d")]
        super().__init__(parts, _mean, level="caption", variant=variant)
        self.tokenizer = self.cider_d.tokenizer


def _mean(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of two scores, float64[..., 2] to float64[...]."""
    return np.asarray((scores[..., 0] + scores[..., 1]) / 2)
