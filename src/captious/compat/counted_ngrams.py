"""Counts of n-grams in dictionaries, and CIDEr from them: what the scorers of other toolkits show to their callers.

Their ``Cider`` classes are computed by kernels; these are for code that reads or changes the counts itself.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

__all__ = ["CountedCaptions", "Counts", "cook_refs", "cook_test", "precook"]

Ngram: TypeAlias = tuple[str, ...]
Counts: TypeAlias = defaultdict[Ngram, int]


def precook(s: str, n: int = 4, out: bool = False) -> Counts:
    """How often each n-gram of order 1 to n occurs in a caption, split at white space. ``out`` is ignored."""
    words = s.split()
    counts: Counts = defaultdict(int)
    for order in range(1, n + 1):
        for ngram in zip(*(words[start:] for start in range(order)), strict=False):
            counts[ngram] += 1
    return counts


def cook_refs(refs: Sequence[str], n: int = 4) -> list[Counts]:
    """The counts of every reference of an image."""
    return [precook(reference, n) for reference in refs]


def cook_test(test: str, n: int = 4) -> Counts:
    """The counts of a candidate."""
    return precook(test, n)


class _Vector(NamedTuple):
    """A caption as CIDEr sees it: weights of its n-grams and their norm, by order, and its number of bigrams."""

    weights: list[dict[Ngram, float]]
    norms: list[float]
    length: int


class CountedCaptions:
    """Candidates and references to which more can be added.

    Args:
        n: highest order of n-grams.
        sigma: width of CIDEr-D's length penalty.

    Attributes:
        crefs: for every image, the counts of its references.
        ctest: for every image, the counts of its candidate, or None.
        document_frequency: n-gram -> number of images whose references have it.
        ref_len: logarithm of the number of images.
    """

    #: Whether it is CIDEr-D, which clips weights of candidates at those of the reference and compares lengths.
    _is_d = True

    def __init__(self, n: int, sigma: float) -> None:
        self.n = n
        self.sigma = sigma
        self.crefs: list[list[Counts]] = []
        self.ctest: list[Counts | None] = []
        self.document_frequency: Mapping[Ngram, float] = defaultdict(float)
        self.ref_len: float | None = None

    def cook_append(self, test: str | None, refs: Sequence[str] | None) -> None:
        """Add an image.

        Args:
            test: the candidate; None for an image that only counts as a document.
            refs: the references; None adds nothing.
        """
        if refs is not None:
            self.crefs.append(cook_refs(refs, self.n))
            self.ctest.append(None if test is None else cook_test(test, self.n))

    def __iadd__(self, other: tuple[str | None, Sequence[str] | None] | CountedCaptions) -> Self:
        """Add an image, as ``(test, refs)``, or those of another scorer."""
        if isinstance(other, tuple):
            self.cook_append(*other)
        else:
            self.ctest.extend(other.ctest)
            self.crefs.extend(other.crefs)
        return self

    def size(self) -> int:
        """Number of images.

        Raises:
            AssertionError: ``crefs`` and ``ctest`` are not equally long.
        """
        if len(self.crefs) != len(self.ctest):
            raise AssertionError(f"refs/test mismatch! {len(self.crefs)}<>{len(self.ctest)}")
        return len(self.crefs)

    def compute_doc_freq(self) -> None:
        """Add the images to the document frequencies."""
        frequencies = self.document_frequency
        assert isinstance(frequencies, dict)
        for references in self.crefs:
            for ngram in set().union(*references):
                frequencies[ngram] = frequencies.get(ngram, 0.0) + 1

    def _ciders(self) -> list[Any]:
        """CIDEr of every candidate, 0 to 10, with the present frequencies and ``ref_len``."""
        scores = []
        for test, references in zip(self.ctest, self.crefs, strict=True):
            if test is None:
                raise TypeError("an image has no candidate: it was added as (None, references)")
            candidate = self._vector(test)
            total = sum((self._similarity(candidate, self._vector(reference)) for reference in references), 0.0)
            scores.append(np.float64(total) / len(references) * 10)
        return scores

    def _vector(self, counts: Mapping[Ngram, int]) -> _Vector:
        assert self.ref_len is not None
        weights: list[dict[Ngram, float]] = [{} for _ in range(self.n)]
        length = 0
        for ngram, count in counts.items():
            documents = self.document_frequency.get(ngram, 0.0)  # not by subscript, which would add it
            weights[len(ngram) - 1][ngram] = count * (self.ref_len - math.log(max(1.0, documents)))
            if len(ngram) == 2:
                length += count
        return _Vector(weights, [math.sqrt(sum(w * w for w in order.values())) for order in weights], length)

    def _similarity(self, candidate: _Vector, reference: _Vector) -> float:
        """Mean over the orders."""
        total = 0.0
        for ours, theirs, norm, their_norm in zip(
            candidate.weights, reference.weights, candidate.norms, reference.norms, strict=True
        ):
            common = ours.keys() & theirs.keys()
            product = sum((min(ours[g], theirs[g]) if self._is_d else ours[g]) * theirs[g] for g in common)
            total += product / (norm * their_norm) if norm and their_norm else product
        if self._is_d:
            total *= math.exp(-((candidate.length - reference.length) ** 2) / (2 * self.sigma**2))
        return total / self.n
