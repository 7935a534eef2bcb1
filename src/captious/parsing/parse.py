"""What a parse says about a caption: words, tags, lemmas, and two views of its dependencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Edge", "Parse"]

Edge: TypeAlias = tuple[int, int, str]
"""A dependency: head, dependent and relation. Words are counted from 1; the head of a root is 0."""


@dataclass(frozen=True, slots=True)
class Parse:
    """A sentence of n words with its dependencies (Universal Dependencies, version 1).

    Args:
        words: n words, from left to right.
        tags: their parts of speech, as the Penn Treebank names them.
        lemmas: their base forms.
        heads: the head of each word in the basic dependencies, which are a tree: its number, 0 for a root.
        relations: the relation of each word to that head.
        collapsed: the dependencies with prepositions folded into relations (``nmod:on``) and conjunctions
            propagated: a graph, in which a word has one or more heads; sorted, the root first, then by dependent and
            head. Words that conjoined prepositions split occur several times: the k-th copy of word w of n has the
            number ``w + k * n``.
        universal: the parts of speech as Universal Dependencies name them, if the parser provides them.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    lemmas: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    collapsed: tuple[Edge, ...]
    universal: tuple[str, ...] = ()
