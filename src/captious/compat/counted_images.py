"""Images whose n-grams are counted only when a caller accesses the counts; until then, kernels score the text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Generic, Self, TypeVar

import numpy as np

from captious.data import Captions, References
from captious.data.reading.source import is_unicode

__all__ = ["CountedImages", "table_of"]

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
