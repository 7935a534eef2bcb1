"""CIDEr-D on counts of n-grams, under the toolkit's name ``pycocoevalcap.cider.cider_scorer.CiderScorer``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from captious.compat.counted import CountedCaptions


class CiderScorer(CountedCaptions):
    """CIDEr-D of images added with ``+=`` or ``cook_append``.

    Intended differences from the toolkit: ``compute_score`` counts documents again, so that it can be called
    repeatedly; n-grams are counted up to the order n, not always 4; ``copy`` keeps sigma.

    Args:
        test, refs: the first image.
        n: highest order of n-grams.
        sigma: width of the length penalty.
    """

    def __init__(
        self, test: str | None = None, refs: Sequence[str] | None = None, n: int = 4, sigma: float = 6.0
    ) -> None:
        super().__init__(n, sigma)
        self.cook_append(test, refs)

    def _empty(self) -> Self:
        return type(self)(n=self.n, sigma=self.sigma)

    def compute_cider(self) -> list[np.float64]:
        """Return the scores of all images, with the document frequencies counted so far; sets ``ref_len``."""
        self.ref_len = np.log(float(self.size()))
        return super().compute_cider()

    def compute_score(self, option: object = None, verbose: int = 0) -> tuple[np.float64, NDArray[np.float64]]:
        """Count documents, and score.

        Args:
            option, verbose: accepted and ignored, as in the toolkit.

        Returns:
            The mean, and float64[n_images].

        Raises:
            ValueError: there are no images.
        """
        if not self.size():
            raise ValueError("there are no images to score")
        self.document_frequency = defaultdict(float)
        self.compute_doc_freq()
        return super().compute_score()
