"""A sentence as a mutable graph of words, traversed in the order of the official program.

The order decides which of several matches of a rule comes first. It results from Java's hash tables: neighbors of a
word are in buckets by their number modulo 16, those in one bucket in insertion order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import TypeAlias

from captious.parsing.parses import Edge, Parse

NOUNS = frozenset(("NN", "NNS", "NNP", "NNPS"))
PLURALS = frozenset(("NNS", "NNPS"))

_Neighbors: TypeAlias = dict[int, list[str]]
"""Neighbors of a word, each with the relations to it."""

_by_dependent = itemgetter(1)


class Sentence:
    """Words, numbered from 1, and the dependencies among them.

    A number above n, the number of words, is a copy of a word created by collapsing dependencies: the number of the
    word plus a multiple of n.

    Args:
        parse: a parse, which is not changed.
    """

    __slots__ = ("children", "lemmas", "n_words", "parents", "roots", "tags", "words")

    def __init__(self, parse: Parse) -> None:
        n = len(parse.words)
        edges = parse.collapsed
        self.n_words = n
        copies = max(1, -(-max((dependent for _, dependent, _ in edges), default=0) // n)) if n else 1
        #: By number; there is no word 0.
        self.words = ("", *parse.words * copies)
        self.tags = ("", *parse.tags * copies)
        self.lemmas = ("", *parse.lemmas * copies)
        self.roots: list[int] = []
        self.children: list[_Neighbors] = [{} for _ in self.words]
        self.parents: list[_Neighbors] = [{} for _ in self.words]
        for head, dependent, relation in sorted(edges, key=_by_dependent if copies == 1 else self._place_of_dependent):
            if head:
                self.add(head, dependent, relation)
            else:
                self.roots.append(dependent)

    def add(self, head: int, dependent: int, relation: str) -> None:
        """Add a dependency to those between two words."""
        self.children[head].setdefault(dependent, []).append(relation)
        self.parents[dependent].setdefault(head, []).append(relation)

    def detach(self, head: int, dependent: int) -> list[str]:
        """Remove the dependencies of one word on another, and return their relations."""
        del self.parents[dependent][head]
        return self.children[head].pop(dependent)

    def replace_root(self, old: int, new: int) -> None:
        """Replace a root by another word; do nothing if it is not a root."""
        self.roots = [new if root == old else root for root in self.roots]

    def in_order(self, words: Iterable[int]) -> list[int]:
        """Return words from left to right, a copy after its word."""
        if len(self.words) == self.n_words + 1:
            return sorted(words)
        return sorted(words, key=self._place)

    def _place(self, word: int) -> tuple[int, int]:
        return (word - 1) % self.n_words, word

    def _place_of_dependent(self, edge: Edge) -> tuple[int, int]:
        return self._place(edge[1])

    def edges_below(self, word: int) -> Iterator[tuple[int, str]]:
        """Return the dependents of a word with their relations, in the order of the official program."""
        children = self.children[word]
        for child in children if len(children) < 2 else self._bucket_order(children):
            for relation in children[child]:
                yield child, relation

    def _bucket_order(self, words: _Neighbors) -> list[int]:
        mask = 15 if len(words) <= 12 else 31  # a fuller table is a larger one
        n = self.n_words
        if len(self.words) == n + 1 <= mask + 1:
            return sorted(words)
        return sorted(words, key=lambda word: ((word - 1) % n + 1) & mask)

    def sorted_topologically(self) -> list[int]:
        """Return all words in the graph, heads before dependents; from left to right if there is a cycle."""
        children = self.children
        attached = [word for word in range(1, len(self.words)) if children[word] or self.parents[word]]
        attached += [root for root in self.roots if root not in attached]
        vertices = self.in_order(attached)
        finished: list[int] = []
        state = bytearray(len(self.words))  # 1 while what is below it is visited, 2 after that
        for start in vertices:
            if state[start]:
                continue
            state[start] = 1
            path = [(start, iter(self._bucket_order(children[start])))]
            while path:
                word, below = path[-1]
                for child in below:
                    if state[child] == 2:
                        continue
                    if state[child] == 1:
                        return vertices
                    if children[child]:
                        state[child] = 1
                        path.append((child, iter(self._bucket_order(children[child]))))
                        break
                    state[child] = 2
                    finished.append(child)
                else:
                    state[word] = 2
                    finished.append(word)
                    path.pop()
        finished.reverse()
        return finished
