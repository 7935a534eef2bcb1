"""Chains of many captions at once are those of the oracle, caption by caption."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from captious.parsing.head_chains import Chains, HeadTrees, chains_of_strings, chains_of_words, shared
from tests.oracles import hwcm as oracle

Caption = tuple[list[str], list[int]]


@st.composite
def captions(draw: st.DrawFn) -> Caption:
    """Words of a small alphabet, with any heads: several roots, and cycles."""
    n = draw(st.integers(0, 7))
    values = draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    heads = [draw(st.integers(0, n).filter(lambda head, word=word: head != word + 1)) for word in range(n)]
    return values, heads


def counts(chains: Chains, n: int) -> list[list[int]]:
    """Return the counts of the chains of each caption, unordered."""
    return [sorted(chains.counts[chains.captions == caption].tolist()) for caption in range(n)]


@given(st.lists(captions(), max_size=4))
def test_chains_are_those_of_the_oracle(some: list[Caption]) -> None:
    trees = HeadTrees.of([values for values, _ in some], [heads for _, heads in some])
    for fast, slow in ((chains_of_words, oracle.chains_of_words), (chains_of_strings, oracle.chains_of_strings)):
        every = fast(trees, 4)
        expected = [slow(values, heads) for values, heads in some]
        for length, of_length in enumerate(every):
            expected_counts = [Counter(of_caption[length]) for of_caption in expected]
            assert counts(of_length, len(some)) == [sorted(counter.values()) for counter in expected_counts]
            assert of_length.totals.tolist() == [counter.total() for counter in expected_counts]
            pairs = [(a, b) for a in range(len(some)) for b in range(len(some))]
            ours, theirs = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
            common = [(expected_counts[a] & expected_counts[b]).total() for a, b in pairs]
            assert shared(of_length, ours, theirs).tolist() == common


def test_words_that_are_there_twice_lend_each_other_their_children() -> None:
    # a dog sees a dog: the first "dog" has "a", the second has "a" as well as "old"
    trees = HeadTrees.of([["dog", "sees", "old", "dog"]], [[2, 0, 4, 2]])
    joined, true = chains_of_strings(trees, 4), chains_of_words(trees, 4)
    assert [sorted(chains.counts.tolist()) for chains in joined] == [[1, 1, 2], [1, 2], [2], []]
    assert [sorted(chains.counts.tolist()) for chains in true] == [[1, 1, 2], [1, 2], [1], []]


def test_only_the_first_tree_counts() -> None:
    trees = HeadTrees.of([["run", "dogs", "sleep", "cats"]], [[0, 1, 0, 3]])
    assert trees.captions.tolist() == [0, 0]
    assert trees.heads.tolist() == [-1, 0]
