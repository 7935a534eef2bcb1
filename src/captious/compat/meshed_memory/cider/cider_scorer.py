"""CIDEr-D on counts of n-grams, under the name ``evaluation.cider.cider_scorer.CiderScorer``."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from captious.compat.counted_ngrams import CountedCaptions, Ngram, cook_refs, cook_test, precook
from captious.compat.pycocoevalcap.harness_input import Texts

__all__ = ["CiderScorer", "cook_refs", "cook_test", "precook"]


class CiderScorer(CountedCaptions):
    """CIDEr-D of tokenized captions.

    Args:
        refs: image id -> list of references.
        test: image id -> list of one candidate; None to count documents only.
        n: highest order of n-grams.
        sigma: width of the length penalty.
        doc_frequency: n-gram -> number of images; None to count those of ``refs``.
        ref_len: logarithm of the number of images.

    Attributes:
        doc_frequency, ref_len: as given or counted.
    """

    def __init__(
        self,
        refs: Texts,
        test: Texts | None = None,
        n: int = 4,
        sigma: float = 6.0,
        doc_frequency: Mapping[Ngram, float] | None = None,
        ref_len: float | None = None,
    ) -> None:
        super().__init__(n, sigma)
        for image, references in refs.items():
            self.cook_append(None if test is None else test[image][0], references)
        if doc_frequency is None and ref_len is None:
            self.compute_doc_freq()
            self.ref_len = np.log(float(self.size()))
        else:
            self.document_frequency = {} if doc_frequency is None else doc_frequency
            self.ref_len = ref_len

    @property
    def doc_frequency(self) -> Mapping[Ngram, float]:
        """See the class."""
        return self.document_frequency

    def compute_cider(self) -> list[np.float64]:
        """The scores of all images."""
        return self._ciders()

    def compute_score(self) -> tuple[np.float64, NDArray[np.float64]]:
        """The mean, and float64[n_images]."""
        scores = np.array(self.compute_cider())
        return np.float64(scores.mean()), scores
