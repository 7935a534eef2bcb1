"""Synonyms in SPICE: the synonym sets of METEOR's dictionary, which come from WordNet 3.0."""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.native import MeteorLexicon
from captious.resources.meteor_tables import MeteorTables

Concept: TypeAlias = frozenset[str | int]
"""The names of a thing, and the numbers of their synonym sets. Two concepts match if they share any."""


def names_of(concept: Concept) -> list[str]:
    """Return the names of a concept, in alphabetical order."""
    return sorted(name for name in concept if isinstance(name, str))


class Synonyms:
    """The synonym sets of strings, looked up on first use.

    Args:
        tables: METEOR's tables.

    Raises:
        ResourceError: damaged tables, or a cache folder that cannot be used.
    """

    def __init__(self, tables: MeteorTables) -> None:
        self._lexicon = MeteorLexicon({**tables.arrays()})
        self._concepts: dict[str, Concept] = {}

    def concept_of(self, name: str) -> Concept:
        """Return a concept for a name of one or several words, with the synonym sets of its entry and of its base
        forms.
        """
        concept = self._concepts.get(name)
        if concept is None:
            concept = self._concepts[name] = frozenset((name, *self._sets(name.replace(" ", "_"))))
        return concept

    def _sets(self, entry: str) -> list[int]:
        lexicon = self._lexicon.copy()
        try:
            lexicon.learn(0, (entry,), (entry,))
        except UnicodeEncodeError:  # a lone surrogate, which no entry has
            return []
        sets: list[int] = lexicon.arrays()["synsets"].tolist()
        return sets


@cache
def synonyms(tables: MeteorTables) -> Synonyms:
    """Return the synonyms of these tables; lookups are cached."""
    return Synonyms(tables)


class LemmaNames:
    """The lemmas of all synonym sets of strings, looked up on first use.

    Args:
        tables: METEOR's tables.

    Raises:
        ResourceError: damaged tables, or a cache folder that cannot be used.
    """

    def __init__(self, tables: MeteorTables) -> None:
        arrays = tables.arrays()
        self._synonyms = synonyms(tables)
        order = np.argsort(arrays["synsets"], kind="stable")
        self._sets = arrays["synsets"][order]
        starts: NDArray[np.int64] = arrays["synset_starts"].astype(np.int64)
        self._words = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[order]
        self._names: dict[str, frozenset[int]] = {}

    def lemmas(self, name: str) -> frozenset[int]:
        """Return the lemmas, by number, of the synonym sets of a name; empty if it is not in the dictionary."""
        names = self._names.get(name)
        if names is None:
            sets = np.array([item for item in self._synonyms.concept_of(name) if isinstance(item, int)], np.int64)
            starts = np.searchsorted(self._sets, sets, side="left").tolist()
            ends = np.searchsorted(self._sets, sets, side="right").tolist()
            pieces = (self._words[start:end].tolist() for start, end in zip(starts, ends, strict=True))
            names = self._names[name] = frozenset(word for piece in pieces for word in piece)
        return names


@cache
def lemma_names(tables: MeteorTables) -> LemmaNames:
    """Return the lemmas of these tables; lookups are cached."""
    return LemmaNames(tables)
