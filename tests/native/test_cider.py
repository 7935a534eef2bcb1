"""The CIDEr kernel against the oracle: weighted references, word maps, rows in any order, threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from captious.native import CiderReferences, Vocabulary
from tests.native.arrays import NO_WORDS, Arrays, arrays, flat
from tests.oracles import cider
from tests.support.corpora import TOY, Corpus, corpora, large_corpus

OFFICIAL_D: dict[str, Any] = {"sigma": 6.0, "clip": True, "relative": False, "length_in_words": False}
PAPER_D: dict[str, Any] = {"sigma": 6.0, "clip": True, "relative": True, "length_in_words": True}
PLAIN: dict[str, Any] = {"sigma": math.inf, "clip": False, "relative": False, "length_in_words": False}
WAYS = {"official D": OFFICIAL_D, "paper D": PAPER_D, "plain": PLAIN}


def oracle(way: str, candidate: list[str], references: list[list[str]], frequencies: cider.Frequencies) -> float:
    """0 to 1."""
    if way == "plain":
        return cider.cider(candidate, references, frequencies, "paper")
    return cider.cider_d(candidate, references, frequencies, "official" if way == "official D" else "paper") / 10


def weighted(texts: Arrays, way: str, threads: int = 1) -> CiderReferences:
    documents = math.log(len(texts.image_offsets) - 1)
    return CiderReferences(
        texts.index(threads), texts.frequencies(threads), NO_WORDS, documents, **WAYS[way], threads=threads
    )


def test_relative_counts_are_not_compared_within_images() -> None:
    texts = arrays(TOY)
    with pytest.raises(ValueError, match="relative counts"):
        weighted(texts, "paper D").score_within(1)


@pytest.mark.parametrize("way", WAYS)
@given(corpus=corpora(max_images=6))
@example(corpus=TOY)
def test_cider_of_small_corpora_equals_the_oracle(way: str, corpus: Corpus) -> None:
    texts = arrays(corpus)
    rows = np.arange(len(corpus.candidates))
    actual = weighted(texts, way).score(*texts.candidates, rows, NO_WORDS, 1)
    frequencies = cider.frequencies(corpus.references)
    expected = [oracle(way, c, r, frequencies) for c, r in zip(corpus.candidates, corpus.references, strict=True)]
    np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("way", WAYS)
@given(corpus=corpora(max_images=6), counted=corpora(max_images=6), first=st.sampled_from(["a", "zebra", "dog"]))
def test_frequencies_over_another_vocabulary_give_equal_scores(
    way: str, corpus: Corpus, counted: Corpus, first: str
) -> None:
    texts = arrays(corpus)
    others = Vocabulary()
    others.add((first,))  # so that equal words have unequal numbers
    other = arrays(counted)
    counts = other.frequencies()
    ngrams, numbers = counts.entries()
    moved = np.where(ngrams >= 0, others.add(tuple(other.vocabulary.words()))[ngrams], -1).astype(np.int32)
    renumbered = type(counts)()
    renumbered.add(np.ascontiguousarray(moved), numbers)
    word_map = texts.vocabulary.ids_in(others)
    documents = math.log(len(counted.candidates))
    references = CiderReferences(texts.index(), renumbered, word_map, documents, **WAYS[way], threads=1)
    actual = references.score(*texts.candidates, np.arange(len(corpus.candidates)), word_map, 1)
    frequencies = cider.frequencies(counted.references)
    expected = [oracle(way, c, r, frequencies) for c, r in zip(corpus.candidates, corpus.references, strict=True)]
    # An empty map stands for the same vocabulary, so it cannot say that no word is known; without words there is none.
    np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-13)


def test_words_behind_the_map_are_unknown() -> None:
    # The map was made before these words were added, as when a vocabulary grows while a scorer is in use.
    corpus = Corpus([["a", "dog"], ["b"]], [[["a", "dog"]], [["b", "dog"]]])
    texts = arrays(corpus)
    word_map = texts.vocabulary.ids_in(texts.vocabulary)
    references = weighted(texts, "official D")
    ids, offsets = flat([["a", "dog", "new", "newer"], ["new"]], texts.vocabulary)
    mapped = references.score(ids, offsets, np.array([0, 0]), word_map, 1)
    np.testing.assert_array_equal(mapped, references.score(ids, offsets, np.array([0, 0]), NO_WORDS, 1))
    frequencies = cider.frequencies(corpus.references)
    expected = oracle("official D", ["a", "dog", "new", "newer"], corpus.references[0], frequencies)
    np.testing.assert_allclose(mapped, [expected, 0.0], rtol=1e-12)


def test_rows_are_scored_in_any_order_and_number() -> None:
    corpus = large_corpus(600)
    texts = arrays(corpus)
    references = weighted(texts, "official D")
    rows = np.arange(600)
    one_by_one = references.score(*texts.candidates, rows, NO_WORDS, 1)
    order = np.random.default_rng(1).integers(600, size=2_000)
    ids, offsets = flat([corpus.candidates[row] for row in order], texts.vocabulary)
    np.testing.assert_array_equal(references.score(ids, offsets, order, NO_WORDS, 3), one_by_one[order])
    none = references.score(NO_WORDS, np.array([0]), np.empty(0, np.int64), NO_WORDS, 3)
    assert none.shape == (0,)


@pytest.mark.parametrize("way", WAYS)
def test_cider_is_equal_on_any_number_of_threads(way: str) -> None:
    texts = arrays(large_corpus(1_300))
    rows = np.arange(1_300)
    expected = weighted(texts, way).score(*texts.candidates, rows, NO_WORDS, 1)
    assert (expected > 0).mean() > 0.5
    for threads in (2, 7, 64):
        actual = weighted(texts, way, threads).score(*texts.candidates, rows, NO_WORDS, threads)
        np.testing.assert_array_equal(actual, expected)


def test_logarithms_beyond_the_table_are_exact() -> None:
    texts = arrays(Corpus([["a", "dog"], ["b"]], [[["a", "dog", "runs"]], [["b"]]]))
    frequencies = cider.frequencies([[["a", "dog", "runs"]], [["b"]]])
    counts = texts.frequencies()
    ngrams, _ = counts.entries()
    for number in (4_095, 4_096, 4_097, 3_000_000):
        many = type(counts)()
        many.add(ngrams, np.full(len(ngrams), number))
        references = CiderReferences(texts.index(), many, NO_WORDS, math.log(5_000_000), **OFFICIAL_D, threads=1)
        actual = references.score(*texts.candidates, np.array([0, 1]), NO_WORDS, 1)
        raised = cider.Frequencies(5_000_000, type(frequencies.counts)(dict.fromkeys(frequencies.counts, number)))
        expected = [
            oracle("official D", ["a", "dog"], [["a", "dog", "runs"]], raised),
            oracle("official D", ["b"], [["b"]], raised),
        ]
        np.testing.assert_allclose(actual, expected, rtol=1e-12)
