"""N-grams that are counted in dictionaries, as other toolkits expose them, and the argument ``df``."""

from __future__ import annotations

import copy
import os
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, Self, TypeAlias, TypeVar

import numpy as np

from captious.compat.reexports import note_changes
from captious.data import Captions, References
from captious.errors import ResourceError
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.text import WHITESPACE

R = TypeVar("R")
S = TypeVar("S", bound="CountedImages[Any, Any]")
T = TypeVar("T")
Ngram: TypeAlias = tuple[str, ...]
Counts: TypeAlias = defaultdict[Ngram, int]


def precook(s: str, n: int = 4, out: bool = False) -> Counts:
    """Return counts of the n-grams of order 1 to n of a caption, split at white space. ``out`` is ignored."""
    words = s.split()
    counts: Counts = defaultdict(int)
    for order in range(1, n + 1):
        for ngram in zip(*(words[start:] for start in range(order)), strict=False):
            counts[ngram] += 1
    return counts


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
        self.crefs: list[R] = []
        self.ctest: list[T | None] = []

    def _cooked(self, test: str | None, refs: Sequence[str]) -> tuple[R, T | None]:
        """Return the counts of an image."""
        raise NotImplementedError

    def copy(self) -> Self:
        """Return another scorer with the same images."""
        new = copy.copy(self)
        new.crefs, new.ctest = [*self.crefs], [*self.ctest]
        return new

    def cook_append(self, test: str | None, refs: Sequence[str] | None) -> None:
        """Add an image.

        Args:
            test: the candidate; None for an image without one yet.
            refs: the references; None adds nothing.
        """
        if refs is not None:
            cooked_refs, cooked_test = self._cooked(test, refs)
            self.crefs.append(cooked_refs)
            self.ctest.append(cooked_test)

    def __iadd__(self, other: Any) -> Self:
        """Add an image, as ``(test, refs)``, or those of another scorer."""
        if isinstance(other, tuple):
            self.cook_append(*other)
        else:
            self.ctest.extend(other.ctest)
            self.crefs.extend(other.crefs)
        return self

    def size(self) -> int:
        """Return the number of images.

        Raises:
            AssertionError: ``crefs`` and ``ctest`` are not equally long.
        """
        if len(self.crefs) != len(self.ctest):
            raise AssertionError(f"refs/test mismatch! {len(self.crefs)}<>{len(self.ctest)}")
        return len(self.crefs)

    def _candidates(self) -> list[T]:
        """Return the counts of all candidates.

        Raises:
            TypeError: an image has none.
        """
        note_changes()
        candidates = [candidate for candidate in self.ctest if candidate is not None]
        if len(candidates) < len(self.ctest):
            raise TypeError("an image has no candidate: it was added as (None, references)")
        return candidates


def filled(scorer: S, captions: Captions) -> S:
    """Return a scorer with ``+=``, after adding images to it."""
    for image in zip(captions.candidates, groups_of(captions.references), strict=True):
        scorer = scorer.__iadd__(image)
    return scorer


def table_of(groups: Collection[Sequence[str]], name: str) -> References:
    """Return a table of groups of texts, with indices from 0 as ids."""
    texts = tuple(text for group in groups for text in group)
    return References(tuple(range(len(groups))), texts, np.cumsum([0, *map(len, groups)]), name=name)


def groups_of(references: References) -> list[tuple[str, ...]]:
    """Return the references of each image."""
    return [references.texts[start:end] for start, end in pairwise(references.offsets.tolist())]


#: The toolkits' name for the document frequencies of the references at hand.
CORPUS = "corpus"


class MissingFrequenciesError(ResourceError, FileNotFoundError):
    """A pickle of document frequencies that is not there."""


def frequencies(df: str | os.PathLike[str]) -> DocumentFrequencies | None:
    """Return document frequencies; None for those of the current references.

    Args:
        df: "corpus", or a pickle: its path, or its name in the folder ``data`` without the extension ``.p``.

    Raises:
        ResourceError: no such file, which is also a ``FileNotFoundError``, or not such a pickle.
        ParameterError: a pickle without the number of documents.
    """
    if df == CORPUS:
        return None
    paths = [Path(df), Path(f"{os.fspath(df)}.p"), Path("data") / f"{os.fspath(df)}.p"]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise MissingFrequenciesError(
            f"there are no document frequencies {os.fspath(df)!r}",
            where=", ".join(map(str, paths)),
            hint='give the path of a pickle, or df="corpus"',
        )
    return DocumentFrequencies.from_pickle(path, tokenizer=WHITESPACE)
