"""``CiderScorer`` of CIDEr-D and of CIDEr: counts of n-grams, with document frequencies from elsewhere.

scorer = CiderDScorer(df_mode="corpus")
scorer += (candidate, references)
scorer.compute_doc_freq()
scorer.document_frequency
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from captious.compat.counted_ngrams import CountedCaptions, precook
from captious.compat.df_files import CORPUS, frequencies

__all__ = ["CiderDScorer", "CiderScorer"]


class CiderDScorer(CountedCaptions):
    """CIDEr-D of candidates added with ``+=`` or ``cook_append``, each a document with its references.

    Args:
        df_mode: "corpus" to count the added references; or a pickle of document frequencies, its path or its name in
            the folder ``data`` ("coco-train-idxs").
        test, refs: the first candidate and its references.
        n: highest order of n-grams.
        sigma: width of the length penalty.

    Raises:
        ResourceError: no such file, or not such a pickle.
    """

    def __init__(
        self,
        df_mode: str = CORPUS,
        test: str | None = None,
        refs: Sequence[str] | None = None,
        n: int = 4,
        sigma: float = 6.0,
    ) -> None:
        super().__init__(n, sigma)
        self._read(df_mode)
        self.cook_append(test, refs)

    def _read(self, df_mode: str) -> None:
        self.df_mode = df_mode
        corpus = frequencies(df_mode)
        self._frequencies = defaultdict(float) if corpus is None else corpus
        if corpus is not None:
            self.ref_len = np.log(float(corpus.n_documents))

    def copy_empty(self) -> Self:
        """Return another scorer with the same frequencies, without candidates."""
        new = type(self)(n=self.n, sigma=self.sigma)
        new.df_mode = self.df_mode
        new._frequencies = self._frequencies
        new.ref_len = self.ref_len
        return new

    _empty = copy_empty

    def clear(self) -> None:
        """Remove all candidates."""
        self._crefs, self._ctest, self._uncounted = [], [], []

    def compute_cider(self, df_mode: str | None = None) -> list[np.float64]:
        """Return the scores of all candidates, with the present document frequencies.

        Args:
            df_mode: "corpus" sets ``ref_len`` to the number of candidates; None for the scorer's own.
        """
        if (self.df_mode if df_mode is None else df_mode) == CORPUS:
            self.ref_len = np.log(float(self.size()))
        return super().compute_cider()

    def compute_score(
        self, df_mode: str | None = None, option: object = None, verbose: int = 0
    ) -> tuple[np.float64, NDArray[np.float64]]:
        """Count documents or use the given frequencies, and score.

        Args:
            df_mode: as in the constructor; None for the one passed there. The first version of the code expects it
                here.
            option, verbose: accepted and ignored.

        Returns:
            The mean, and float64[n_candidates].

        Raises:
            ValueError: there are no candidates.
        """
        if not self.size():
            raise ValueError("there are no candidates to score")
        if df_mode is not None and df_mode != self.df_mode:
            self._read(df_mode)
        if self.df_mode == CORPUS:
            self.document_frequency = defaultdict(float)
            self.compute_doc_freq()
        return super().compute_score()

    def my_get_cider(self, gts: Sequence[str], res: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of each candidate with each reference, float64[n_candidates, n_references].

        Raises:
            AssertionError: ``ref_len`` is None.
        """
        idf = self._idf()
        candidates, references = ([self._vector(precook(text, self.n), idf) for text in texts] for texts in (res, gts))
        scores = [[self._similarity(candidate, reference) for reference in references] for candidate in candidates]
        return np.array(scores).reshape(len(res), len(gts)) * 10

    def my_get_self_cider(self, res: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of each candidate (rows) with each candidate (columns).

        Raises:
            AssertionError: ``ref_len`` is None.
        """
        return self.my_get_cider(res, res)


class CiderScorer(CiderDScorer):
    """CIDEr of the candidates, without clipping or a length penalty."""

    _is_d = False
