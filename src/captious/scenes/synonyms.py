"""Synonyms as SPICE knows them: the synonym sets of METEOR's dictionary, which come from WordNet 3.0.

A string has the sets of its entry, and those of the words that it is an inflection of. They are looked up in METEOR's
index, word by word and only when they are asked for.
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.resources.meteor_tables import MeteorTables

__all__ = ["Concept", "Synonyms", "names_of", "synonyms"]

Concept: TypeAlias = frozenset[str | int]
"""What a thing is called, and the numbers of the synonym sets of these names. Two are alike if they share any."""

#: How an inflected form may come from a base form, in the order in which METEOR tries.
_SUFFIXES = (
    *(("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man")),
    *(("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    *(("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
)


def names_of(concept: Concept) -> list[str]:
    """What a concept is called, in alphabetical order."""
    return sorted(name for name in concept if isinstance(name, str))


class Synonyms:
    """The synonym sets of strings.

    Args:
        tables: METEOR's tables.

    Raises:
        ResourceError: damaged tables, or a cache folder that cannot be used.
    """

    def __init__(self, tables: MeteorTables) -> None:
        arrays = tables.arrays()
        self._text = arrays["word_text"]
        self._ends = arrays["word_ends"]
        self._slots = arrays["word_slots"]
        self._sets = arrays["synsets"]
        self._set_starts = arrays["synset_starts"]
        self._bases = arrays["bases"]
        self._base_starts = arrays["base_starts"]
        self._known: dict[str, Concept] = {}

    def concept_of(self, name: str) -> Concept:
        """A name of one word or several, with the synonym sets that it belongs to."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = frozenset((name, *self._look_up(name.replace(" ", "_"))))
        return found

    def _look_up(self, entry: str) -> list[int]:
        word = self._number(entry)
        found = self._of_word(word)
        bases = _values(self._bases, self._base_starts, word)
        if bases:
            return found + [number for base in bases for number in self._of_word(base)]
        if len(entry) <= 2 or entry.endswith("ss"):
            return found
        for ending, instead in _SUFFIXES:
            if entry.endswith(ending):
                of_base = self._of_word(self._number(entry[: len(entry) - len(ending)] + instead))
                if of_base:
                    return found + of_base
        return found

    def _of_word(self, word: int | None) -> list[int]:
        return _values(self._sets, self._set_starts, word)

    def _number(self, entry: str) -> int | None:
        """The number of a word in the index, whose hash table is that of ``native/meteor/tables.cpp``."""
        text = entry.encode("utf-8", "surrogatepass")
        mask = len(self._slots) - 1
        slot = _hash(text) & mask
        while number := int(self._slots[slot]):
            begin = int(self._ends[number - 2]) if number > 1 else 0
            if self._text[begin : int(self._ends[number - 1])].tobytes() == text:
                return number - 1
            slot = (slot + 1) & mask
        return None


@cache
def synonyms(tables: MeteorTables) -> Synonyms:
    """The synonyms of these tables; lookups are kept."""
    return Synonyms(tables)


def _values(values: NDArray[np.int32], starts: NDArray[np.uint32], word: int | None) -> list[int]:
    if word is None:
        return []
    found: list[int] = values[int(starts[word]) : int(starts[word + 1])].tolist()
    return found


_WORD = (1 << 64) - 1


def _hash(text: bytes) -> int:
    """``hash_bytes`` of native/hash.hpp."""
    found = len(text)
    while len(text) > 8:
        found = _mix(found, int.from_bytes(text[:8], "little"))
        text = text[8:]
    return _mix(found, _load(text))


def _mix(a: int, b: int) -> int:
    product = (a ^ 0x9E3779B97F4A7C15) * (b ^ 0xD1B54A32D192ED03)
    return (product ^ product >> 64) & _WORD


def _load(text: bytes) -> int:
    """Up to eight bytes as one number."""
    n = len(text)
    if n == 8:
        return int.from_bytes(text, "little")
    if n >= 4:
        return int.from_bytes(text[:4], "little") | int.from_bytes(text[-4:], "little") << 32
    return (text[0] | (text[n // 2] << 8 | text[-1]) << 32) if n else 0
