"""Counts of word chains down the dependency trees of many captions at once.

A chain of length u is a path of u words, each the child of the one before. Chains are numbered; equal numbers are equal
chains. Pure functions over arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HeadTrees:
    """The words under the first root of each of n captions.

    Args:
        n: number of captions.
        captions: the caption of each word, int64[n_words], ascending.
        values: a number that represents each word, int64[n_words].
        heads: int64[n_words], the index of each word's head among the words; -1 for roots.
    """

    n: int
    captions: Ints
    values: Ints
    heads: Ints

    @classmethod
    def of(cls, values: Sequence[Sequence[str]], heads: Sequence[Sequence[int]]) -> HeadTrees:
        """Create trees from the values of words, and the heads of words, which are counted from 1; 0 for a root."""
        numbers: dict[str, int] = {}
        flat = np.array([numbers.setdefault(value, len(numbers)) for caption in values for value in caption], np.int64)
        lengths = np.array([*map(len, values)], np.int64)
        captions = np.repeat(np.arange(len(lengths)), lengths)
        starts = (np.cumsum(lengths) - lengths)[captions]
        above = np.array([head for caption in heads for head in caption], np.int64) - 1
        places = np.arange(len(flat))
        up = np.where(above < 0, places, above + starts)
        is_root = above < 0
        roots = np.full(len(lengths), -1, np.int64)
        roots[captions[is_root][::-1]] = places[is_root][::-1]  # the first of each caption
        for _ in range(int(lengths.max(initial=1)).bit_length()):
            up = up[up]
        under = up == roots[captions] if len(flat) else np.zeros(0, bool)
        renumbered = np.cumsum(under) - 1
        in_tree = np.flatnonzero(under)
        heads_in_tree = np.where(is_root[in_tree], -1, renumbered[np.where(is_root, places, above + starts)[in_tree]])
        return cls(len(lengths), captions[in_tree], flat[in_tree], heads_in_tree)


@dataclass(frozen=True, eq=False)
class Chains:
    """Chains of one length, each once per caption; ascending by caption, then by chain.

    Args:
        n: number of captions.
        captions, chains, counts: int64[m].
    """

    n: int
    captions: Ints
    chains: Ints
    counts: Ints

    @classmethod
    def counted(cls, n: int, captions: Ints, chains: Ints, counts: Ints | None = None) -> Chains:
        """Create from chains that may repeat, each as often as ``counts`` says, or once."""
        first, totals = _distinct(captions, chains, counts)
        return cls(n, captions[first], chains[first], totals)

    @property
    def totals(self) -> Ints:
        """Number of chains of each caption, int64[n]."""
        return np.bincount(self.captions, self.counts, self.n).astype(np.int64)

    @property
    def offsets(self) -> Ints:
        """Offsets of the chains of each caption, int64[n + 1]."""
        return np.searchsorted(self.captions, np.arange(self.n + 1)).astype(np.int64)


def chains_of_words(trees: HeadTrees, longest: int) -> list[Chains]:
    """Return chains of words that are each the head of the next, of lengths 1 to ``longest``."""
    ends = trees.values  # the chain that ends with each word, or -1
    by_length = [Chains.counted(trees.n, trees.captions, ends)]
    for _ in range(1, longest):
        above = np.where(trees.heads >= 0, ends[trees.heads], -1)
        words = np.flatnonzero(above >= 0)
        ends = np.full(len(trees.values), -1, np.int64)
        ends[words] = _pairs(above[words], trees.values[words])
        by_length.append(Chains.counted(trees.n, trees.captions[words], ends[words]))
    return by_length


def chains_of_strings(trees: HeadTrees, longest: int) -> list[Chains]:
    """Return chains as in LCEval's code, where edges are joined at words with the same spelling.

    So every occurrence of a repeated word also gets the children of the others.
    """
    by_length = [Chains.counted(trees.n, trees.captions, trees.values)]
    below = np.flatnonzero(trees.heads >= 0)
    captions, tails = trees.captions[below], trees.values[below]
    firsts = trees.values[trees.heads[below]]
    edges = longer = _Joined.counted(captions, firsts, tails)
    for length in range(2, longest + 1):
        if length > 2:
            longer = _joined(edges, longer)
        by_length.append(Chains.counted(trees.n, longer.captions, longer.whole, longer.counts))
    return by_length[:longest]


@dataclass(frozen=True, eq=False)
class _Joined:
    """Chains with their first words, each once per caption; first words, remainders and whole chains are numbers."""

    captions: Ints
    firsts: Ints
    rests: Ints
    whole: Ints
    counts: Ints

    @classmethod
    def counted(cls, captions: Ints, firsts: Ints, rests: Ints, counts: Ints | None = None) -> _Joined:
        whole = _pairs(firsts, rests)
        at, totals = _distinct(captions, whole, counts)
        return cls(captions[at], firsts[at], rests[at], whole[at], totals)


def _joined(edges: _Joined, chains: _Joined) -> _Joined:
    """Return chains that are longer by one: each edge followed by each chain of the caption that begins with its second
    word.
    """
    size = max(int(edges.rests.max(initial=0)), int(chains.firsts.max(initial=0))) + 1
    keys = chains.captions * size + chains.firsts
    order = np.argsort(keys, kind="stable")
    ends = edges.captions * size + edges.rests
    start, stop = (np.searchsorted(keys[order], ends, side=side) for side in ("left", "right"))
    of_edges, places = _expanded(start, stop - start)
    of_chains = order[places]
    counts = edges.counts[of_edges] * chains.counts[of_chains]
    return _Joined.counted(edges.captions[of_edges], edges.firsts[of_edges], chains.whole[of_chains], counts)


def shared(chains: Chains, first: Ints, second: Ints) -> Ints:
    """Return how many chains pairs of captions share, each counted as in the caption with fewer: int64[n_pairs].

    Args:
        chains: chains of all captions.
        first, second: int64[n_pairs], two captions each.
    """
    size = int(chains.chains.max(initial=0)) + 1
    keys = chains.captions * size + chains.chains  # ascending
    if not len(keys):
        return np.zeros(len(first), np.int64)
    start = chains.offsets
    pairs, places = _expanded(start[second], start[second + 1] - start[second])
    counterparts = first[pairs] * size + chains.chains[places]
    at = np.minimum(np.searchsorted(keys, counterparts), len(keys) - 1)
    common = np.where(keys[at] == counterparts, np.minimum(chains.counts[at], chains.counts[places]), 0)
    return np.asarray(np.bincount(pairs, common, len(first)).astype(np.int64))


def _distinct(captions: Ints, chains: Ints, counts: Ints | None) -> tuple[Ints, Ints]:
    """Return the first index of each distinct chain of a caption, ascending by caption and chain, and the sum of its
    counts.
    """
    size = int(chains.max(initial=0)) + 1
    _, first, inverse = np.unique(captions * size + chains, return_index=True, return_inverse=True)
    weights = None if counts is None else counts.astype(np.float64)  # exact up to 2^53
    return first, np.bincount(inverse, weights, len(first)).astype(np.int64)


def _expanded(starts: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Concatenate the ranges that begin at ``starts``; returns the range of each element, and the element."""
    of = np.repeat(np.arange(len(starts)), lengths)
    within = np.arange(len(of)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return of, starts[of] + within


def _pairs(a: Ints, b: Ints) -> Ints:
    """Return a number for each pair; equal numbers are equal pairs."""
    if not len(a):
        return a.astype(np.int64)
    return np.asarray(np.unique(a * (int(b.max()) + 1) + b, return_inverse=True)[1], np.int64)
