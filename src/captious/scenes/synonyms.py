"""Synonyms as SPICE knows them: the synonym sets of METEOR's dictionary, which come from WordNet 3.0."""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from captious.native import MeteorLexicon
from captious.resources.meteor_tables import MeteorTables

__all__ = ["Concept", "Synonyms", "names_of", "synonyms"]

Concept: TypeAlias = frozenset[str | int]
"""What a thing is called, and the numbers of the synonym sets of these names. Two are alike if they share any."""


def names_of(concept: Concept) -> list[str]:
    """What a concept is called, in alphabetical order."""
    return sorted(name for name in concept if isinstance(name, str))


class Synonyms:
    """The synonym sets of strings, looked up when they are first needed.

    Args:
        tables: METEOR's tables.

    Raises:
        ResourceError: damaged tables, or a cache folder that cannot be used.
    """

    def __init__(self, tables: MeteorTables) -> None:
        self._lexicon = MeteorLexicon({**tables.arrays()})
        self._concepts: dict[str, Concept] = {}

    def concept_of(self, name: str) -> Concept:
        """A name of one word or several, with the synonym sets of its entry and of the words that it inflects."""
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
    """The synonyms of these tables; lookups are kept."""
    return Synonyms(tables)
