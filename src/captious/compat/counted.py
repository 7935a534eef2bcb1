"""N-grams that are counted only when a caller accesses the counts, CIDEr from the counts, and the argument ``df``."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.data.rows import is_unicode
from captious.errors import ResourceError
from captious.metrics.cider import Cider, CiderD
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.text import WHITESPACE

# Images whose n-grams are counted only when a caller accesses the counts; until then, kernels score the text.

R = TypeVar("R")
T = TypeVar("T")


class CountedImages(Generic[R, T]):
    """Candidates and references, with methods to add more.

    Args:
        n: highest order of n-grams.

    Attributes:
        crefs: for every image, the counts of its references.
        ctest: for every image, the counts of its candidate, or None.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._uncounted: list[tuple[str | None, tuple[str, ...]]] = []
        self._crefs: list[R] = []
        self._ctest: list[T | None] = []

    def _cooked(self, test: str | None, refs: Sequence[str]) -> tuple[R, T | None]:
        """Return the counts of an image."""
        raise NotImplementedError

    def _empty(self) -> Self:
        """Return a scorer with the same settings, without images."""
        raise NotImplementedError

    def copy(self) -> Self:
        """Return another scorer with the same images."""
        new = self._empty()
        new._uncounted, new._crefs, new._ctest = [*self._uncounted], [*self._crefs], [*self._ctest]
        return new

    @property
    def crefs(self) -> list[R]:
        """See the class."""
        self._count()
        return self._crefs

    @crefs.setter
    def crefs(self, value: list[R]) -> None:
        self._count()
        self._crefs = value

    @property
    def ctest(self) -> list[T | None]:
        """See the class."""
        self._count()
        return self._ctest

    @ctest.setter
    def ctest(self, value: list[T | None]) -> None:
        self._count()
        self._ctest = value

    def cook_append(self, test: str | None, refs: Sequence[str] | None) -> None:
        """Add an image.

        Args:
            test: the candidate; None for an image without one yet.
            refs: the references; None adds nothing.
        """
        if refs is not None:
            self._uncounted.append((test, tuple(refs)))
            if not all(isinstance(text, str) for text in refs) or not isinstance(test, str | None):
                self._count()  # an error of the toolkit

    def __iadd__(self, other: tuple[str | None, Sequence[str] | None] | CountedImages[R, T]) -> Self:
        """Add an image, as ``(test, refs)``, or those of another scorer."""
        if isinstance(other, tuple):
            self.cook_append(*other)
        elif other._is_uncounted and self.n == other.n:
            self._uncounted.extend(other._uncounted)
        else:
            self.ctest.extend(other.ctest)
            self.crefs.extend(other.crefs)
        return self

    def size(self) -> int:
        """Return the number of images.

        Raises:
            AssertionError: ``crefs`` and ``ctest`` are not equally long.
        """
        if len(self._crefs) != len(self._ctest):
            raise AssertionError(f"refs/test mismatch! {len(self.crefs)}<>{len(self.ctest)}")
        return len(self._crefs) + len(self._uncounted)

    @property
    def _is_uncounted(self) -> bool:
        """Whether no caller has accessed the counts yet, so that they cannot have been changed."""
        return not self._crefs and not self._ctest

    def _count(self) -> None:
        uncounted, self._uncounted = self._uncounted, []
        for test, refs in uncounted:
            cooked_refs, cooked_test = self._cooked(test, refs)
            self._crefs.append(cooked_refs)
            self._ctest.append(cooked_test)

    def _references(self) -> References | None:
        """Return the references as a table for kernels; None if they are counted, or an image has none."""
        groups = [refs for _, refs in self._uncounted]
        if not self._is_uncounted or not groups or not all(groups):
            return None
        table = table_of(groups, "crefs")
        return table if is_unicode("".join(table.texts)) else None

    def _captions(self) -> Captions | None:
        """Return candidates and references as a table for kernels; None if they are counted or incomplete."""
        references = self._references()
        tests = [test for test, _ in self._uncounted if test is not None]
        if references is None or len(tests) < len(references) or not is_unicode("".join(tests)):
            return None
        return Captions(tuple(tests), references)


def table_of(groups: Collection[Sequence[str]], name: str) -> References:
    """Return a table of groups of texts, with indices from 0 as ids."""
    texts = tuple(text for group in groups for text in group)
    return References(tuple(range(len(groups))), texts, np.cumsum([0, *map(len, groups)]), name=name)


# Counts of n-grams in dictionaries, and CIDEr computed from them, as other toolkits expose them.
#
# The dictionaries are created only when callers access them; otherwise, kernels compute the same scores.

Ngram: TypeAlias = tuple[str, ...]
Counts: TypeAlias = defaultdict[Ngram, int]
Idf: TypeAlias = Callable[[Ngram], float]

_KERNEL_ORDER = 4  # the highest order of n-grams that kernels count


def precook(s: str, n: int = 4, out: bool = False) -> Counts:
    """Return counts of the n-grams of order 1 to n of a caption, split at white space. ``out`` is ignored."""
    words = s.split()
    counts: Counts = defaultdict(int)
    for order in range(1, n + 1):
        for ngram in zip(*(words[start:] for start in range(order)), strict=False):
            counts[ngram] += 1
    return counts


def cook_refs(refs: Sequence[str], n: int = 4) -> list[Counts]:
    """Return the counts of every reference of an image."""
    return [precook(reference, n) for reference in refs]


def cook_test(test: str, n: int = 4) -> Counts:
    """Return the counts of a candidate."""
    return precook(test, n)


#: Further names in the toolkits' modules with a ``CiderScorer``.
COOKING = (precook, cook_refs, cook_test)


class _Vector(NamedTuple):
    """A caption in CIDEr: weights of its n-grams, their norm by order, and its number of bigrams."""

    weights: dict[Ngram, float]
    norms: list[float]
    length: int


class CountedCaptions(CountedImages[list[Counts], Counts]):
    """Candidates and references, with methods to add more.

    Args:
        n: highest order of n-grams.
        sigma: width of CIDEr-D's length penalty.

    Attributes:
        crefs: for every image, the counts of its references.
        ctest: for every image, the counts of its candidate, or None.
        document_frequency: n-gram -> number of images with it in their references.
        ref_len: logarithm of the number of images.
    """

    #: Whether it is CIDEr-D, which clips weights of candidates at those of the reference and compares lengths.
    _is_d = True

    def __init__(self, n: int, sigma: float) -> None:
        super().__init__(n)
        self.sigma = sigma
        self.ref_len: float | None = None
        self._frequencies: Mapping[Ngram, float] | DocumentFrequencies = defaultdict(float)

    @property
    def document_frequency(self) -> Mapping[Ngram, float]:
        """See the class."""
        if isinstance(self._frequencies, DocumentFrequencies):
            counted: defaultdict[Ngram, float] = defaultdict(float)
            counted.update((ngram, float(count)) for ngram, count in self._frequencies.by_ngram().items())
            self._frequencies = counted
        return self._frequencies

    @document_frequency.setter
    def document_frequency(self, frequencies: Mapping[Ngram, float]) -> None:
        self._frequencies = frequencies

    def compute_doc_freq(self) -> None:
        """Add the images to the document frequencies."""
        references = self._references() if self.n == _KERNEL_ORDER and self._frequencies == {} else None
        if references is not None:
            self._frequencies = DocumentFrequencies.of(references, WHITESPACE)
            return
        frequencies = self.document_frequency
        assert isinstance(frequencies, dict)
        for group in self.crefs:
            for ngram in set().union(*group):
                frequencies[ngram] = frequencies.get(ngram, 0.0) + 1

    def _cooked(self, test: str | None, refs: Sequence[str]) -> tuple[list[Counts], Counts | None]:
        return cook_refs(refs, self.n), None if test is None else cook_test(test, self.n)

    def compute_score(self) -> tuple[np.float64, NDArray[np.float64]]:
        """Return the mean, and float64[n_images]."""
        scores = np.array(self.compute_cider())
        return np.float64(scores.mean()), scores

    def compute_cider(self) -> list[Any]:
        """Return CIDEr of every candidate, 0 to 10, with the present frequencies and ``ref_len``."""
        scores_of_kernel = self._ciders_of_kernel()
        if scores_of_kernel is not None:
            return scores_of_kernel
        idf = self._idf()
        scores = []
        for test, references in zip(self.ctest, self.crefs, strict=True):
            if test is None:
                raise TypeError("an image has no candidate: it was added as (None, references)")
            candidate = self._vector(test, idf)
            vectors = [self._vector(reference, idf) for reference in references]
            total = 0.0  # ``sum`` of Python 3.12 rounds once, and not after each addition
            for vector in vectors:
                total += self._similarity(candidate, vector)
            scores.append(np.float64(total) / len(references) * 10)
        return scores

    def _ciders_of_kernel(self) -> list[Any] | None:
        """Return ``compute_cider`` from text; None if a caller has accessed the counts or the frequencies."""
        frequencies = self._frequencies
        if self.n != _KERNEL_ORDER or not isinstance(frequencies, DocumentFrequencies) or self.ref_len is None:
            return None
        if not math.isclose(self.ref_len, math.log(frequencies.n_documents), rel_tol=1e-15):
            return None
        table = self._captions()
        if table is None:
            return None
        if self._is_d:
            return list(CiderD(idf=frequencies, sigma=self.sigma, tokenizer=WHITESPACE).scores(table))
        return list(Cider(idf=frequencies, tokenizer=WHITESPACE).scores(table))

    def _idf(self) -> Idf:
        assert self.ref_len is not None
        frequencies, log_documents = self.document_frequency, float(self.ref_len)

        @cache
        def idf(ngram: Ngram) -> float:
            documents = frequencies.get(ngram, 0.0)  # not by subscript, which would add it
            return log_documents - math.log(max(1.0, documents))

        return idf

    def _vector(self, counts: Mapping[Ngram, int], idf: Idf) -> _Vector:
        weights = {ngram: count * idf(ngram) for ngram, count in counts.items()}
        squares = [0.0] * self.n
        for ngram, weight in weights.items():
            squares[len(ngram) - 1] += weight * weight
        length = sum([count for ngram, count in counts.items() if len(ngram) == 2])
        return _Vector(weights, [math.sqrt(square) for square in squares], length)

    def _similarity(self, candidate: _Vector, reference: _Vector) -> float:
        """Return the mean over the orders."""
        candidate_weights, reference_weights = candidate.weights, reference.weights
        products = [0.0] * self.n
        for ngram in candidate_weights.keys() & reference_weights.keys():
            candidate_weight, reference_weight = candidate_weights[ngram], reference_weights[ngram]
            clipped = reference_weight if self._is_d and reference_weight < candidate_weight else candidate_weight
            products[len(ngram) - 1] += clipped * reference_weight
        total = 0.0
        for product, candidate_norm, reference_norm in zip(products, candidate.norms, reference.norms, strict=True):
            total += product / (candidate_norm * reference_norm) if candidate_norm and reference_norm else product
        if self._is_d:
            total *= math.exp(-((candidate.length - reference.length) ** 2) / (2 * self.sigma**2))
        return total / self.n


# The argument ``df`` of scorers in other toolkits: "corpus", or a pickle of document frequencies.

#: The toolkits' name for the document frequencies of the references at hand.
CORPUS = "corpus"


def frequencies(df: str | os.PathLike[str]) -> DocumentFrequencies | None:
    """Return document frequencies; None for those of the current references.

    Args:
        df: "corpus", or a pickle: its path, or its name in the folder ``data`` without the extension ``.p``.

    Raises:
        ResourceError: no such file, or not such a pickle.
        ParameterError: a pickle without the number of documents.
    """
    if df == CORPUS:
        return None
    paths = [Path(df), Path(f"{os.fspath(df)}.p"), Path("data") / f"{os.fspath(df)}.p"]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise ResourceError(
            f"there are no document frequencies {os.fspath(df)!r}",
            where=", ".join(map(str, paths)),
            hint='give the path of a pickle, or df="corpus"',
        )
    return DocumentFrequencies.from_pickle(path, tokenizer=WHITESPACE)
