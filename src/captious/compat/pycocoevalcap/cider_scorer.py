"""CIDEr and CIDEr-D on counts of n-grams: the ``CiderScorer`` of all toolkits.

Programs read and change the counts and the document frequencies, which are dictionaries. ``Cider`` and ``CiderD`` of
the toolkits compute the same scores from text.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.compat.counted import CORPUS, CountedImages, Counts, Ngram, precook

#: A caption in CIDEr: by order, the weights of its n-grams; and its number of bigrams.
_Vector: TypeAlias = tuple[list[dict[Ngram, float]], int]


def cook_refs(refs: Sequence[str], n: int = 4) -> list[Counts]:
    """Return the counts of every reference of an image."""
    return [precook(reference, n) for reference in refs]


def cook_test(test: str, n: int = 4) -> Counts:
    """Return the counts of a candidate."""
    return precook(test, n)


#: Further names in the toolkits' modules with a ``CiderScorer``.
COOKING = (precook, cook_refs, cook_test)


class CountedCaptions(CountedImages[list[Counts], Counts]):
    """CIDEr-D of images added with ``+=`` or ``cook_append``.

    Args:
        n: highest order of n-grams.
        sigma: width of the length penalty.

    Attributes:
        df_mode: "corpus" if ``compute_score`` counts the images as documents.
        document_frequency: n-gram -> number of images with it in their references.
        ref_len: logarithm of the number of images.
    """

    #: Whether it is CIDEr-D, which clips weights of candidates at those of the reference and compares lengths.
    _is_d = True
    df_mode: str = CORPUS

    def __init__(self, n: int, sigma: float) -> None:
        super().__init__(n)
        self.sigma = sigma
        self.ref_len: float | None = None
        self.document_frequency: Mapping[Ngram, float] = defaultdict(float)

    def _cooked(self, test: str | None, refs: Sequence[str]) -> tuple[list[Counts], Counts | None]:
        return cook_refs(refs, self.n), None if test is None else cook_test(test, self.n)

    def compute_doc_freq(self) -> None:
        """Add the images to the document frequencies."""
        counted: Any = self.document_frequency
        for group in self.crefs:
            for ngram in set().union(*group):
                counted[ngram] = counted.get(ngram, 0.0) + 1

    def compute_cider(self, df_mode: str | None = None) -> list[np.float64]:
        """Return CIDEr of every candidate, 0 to 10, with the present document frequencies.

        Args:
            df_mode: "corpus" sets ``ref_len`` to the number of images; None for the scorer's own.
        """
        if (df_mode or self.df_mode) == CORPUS:
            self.ref_len = np.log(float(self.size()))
        scores = []
        for test, references in zip(self._candidates(), self.crefs, strict=True):
            candidate = self._vector(test)
            total = sum(self._similarity(candidate, self._vector(reference)) for reference in references)
            scores.append(np.float64(total) / len(references) * 10)
        return scores

    def compute_score(
        self, df_mode: str | None = None, option: object = None, verbose: int = 0
    ) -> tuple[np.float64, NDArray[np.float64]]:
        """Count documents or use the given frequencies, and score.

        Args:
            df_mode: another one than that of the constructor, from now on; None for the same. The first version of the
                authors' code expects it here.
            option, verbose: accepted and ignored.

        Returns:
            The mean, and float64[n_images].

        Raises:
            ValueError: there are no images.
        """
        if not self.size():
            raise ValueError("there are no candidates to score")
        if df_mode is not None and df_mode != self.df_mode:
            self._read(df_mode)
        if self.df_mode == CORPUS:
            self.document_frequency = defaultdict(float)
            self.compute_doc_freq()
        scores = np.array(self.compute_cider())
        return np.float64(scores.mean()), scores

    def _read(self, df_mode: str) -> None:
        """Take document frequencies from elsewhere."""
        raise NotImplementedError

    def _vector(self, counts: Mapping[Ngram, int]) -> _Vector:
        assert self.ref_len is not None
        log_documents = float(self.ref_len)
        weights: list[dict[Ngram, float]] = [{} for _ in range(self.n)]
        for ngram, count in counts.items():
            documents = self.document_frequency.get(ngram, 0.0)  # not by subscript, which would add it
            weights[len(ngram) - 1][ngram] = count * (log_documents - math.log(max(1.0, documents)))
        return weights, sum(count for ngram, count in counts.items() if len(ngram) == 2)

    def _similarity(self, candidate: _Vector, reference: _Vector) -> float:
        """Return the mean over the orders."""
        total = 0.0
        for mine, other in zip(candidate[0], reference[0], strict=True):
            shared = mine.keys() & other.keys()
            product = sum((min(mine[each], other[each]) if self._is_d else mine[each]) * other[each] for each in shared)
            norms = math.hypot(*mine.values()) * math.hypot(*other.values())
            total += product / norms if norms else product
        if self._is_d:
            total *= math.exp(-((candidate[1] - reference[1]) ** 2) / (2 * self.sigma**2))
        return total / self.n


class CiderScorer(CountedCaptions):
    """CIDEr-D of images, under the toolkit's name ``pycocoevalcap.cider.cider_scorer.CiderScorer``.

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

    def copy(self) -> Self:
        """Return another scorer with the same images, and no document frequencies."""
        new = super().copy()
        new.document_frequency, new.ref_len = defaultdict(float), None
        return new

    def compute_score(  # type: ignore[override]
        self, option: object = None, verbose: int = 0
    ) -> tuple[np.float64, NDArray[np.float64]]:
        """Count documents, and score; the arguments are accepted and ignored, as in the toolkit."""
        return super().compute_score()
