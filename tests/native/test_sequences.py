"""The kernels of word order against the oracles: longest common subsequences and skip-bigrams."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from captious.native import lcs_lengths, skip_bigram_matches, subsequence_places
from tests.native.arrays import arrays
from tests.oracles.concur_score import subsequence
from tests.oracles.ngrams import matches
from tests.oracles.rouge_l import lcs
from tests.oracles.rouge_s import skip_bigrams
from tests.support.corpora import TOY, Corpus, captions, corpora, large_corpus

GAPS = (1, 2, 4, 2**62)


def expected_lcs(corpus: Corpus) -> list[int]:
    return [
        lcs(candidate, reference)
        for candidate, references in zip(corpus.candidates, corpus.references, strict=True)
        for reference in references
    ]


def expected_pairs(corpus: Corpus, gap: int) -> list[int]:
    return [
        matches(skip_bigrams(candidate, gap), skip_bigrams(reference, gap))
        for candidate, references in zip(corpus.candidates, corpus.references, strict=True)
        for reference in references
    ]


@given(corpus=corpora(max_images=8))
@example(corpus=TOY)
@example(corpus=Corpus([[]], [[[]]]))
def test_lcs_of_small_corpora_equals_the_oracle(corpus: Corpus) -> None:
    flat = arrays(corpus)
    lengths = lcs_lengths(*flat.candidates, *flat.references, 1)
    assert lengths.dtype == np.int64
    np.testing.assert_array_equal(lengths, expected_lcs(corpus))


@given(candidate=captions(200), references=st.lists(captions(90), min_size=1, max_size=4))
def test_lcs_of_long_captions_equals_the_oracle(candidate: list[str], references: list[list[str]]) -> None:
    corpus = Corpus([candidate], [references])
    flat = arrays(corpus)
    np.testing.assert_array_equal(lcs_lengths(*flat.candidates, *flat.references, 1), expected_lcs(corpus))


@pytest.mark.parametrize("length", [1, 23, 24, 25, 63, 64, 65, 127, 128, 129, 200])
@pytest.mark.parametrize("words", [1, 2, 30, 500])
def test_lcs_is_exact_around_the_edges_of_machine_words(length: int, words: int) -> None:
    # 64 words of the candidate are treated at once; carries go from one batch to the next.
    rng = random.Random(length * 1_000 + words)

    def caption(n: int) -> list[str]:
        return [f"w{rng.randrange(words)}" for _ in range(n)]

    candidate = caption(length)
    near = [word for word in candidate if rng.random() < 0.8]
    corpus = Corpus([candidate], [[candidate, near, near[::-1], caption(length), caption(length + 70), []]])
    flat = arrays(corpus)
    actual = lcs_lengths(*flat.candidates, *flat.references, 1)
    np.testing.assert_array_equal(actual, expected_lcs(corpus))
    assert actual[0] == length
    assert actual[1] == len(near)


@given(corpus=corpora(max_images=8), gap=st.sampled_from(GAPS))
@example(corpus=TOY, gap=4)
def test_skip_bigrams_of_small_corpora_equal_the_oracle(corpus: Corpus, gap: int) -> None:
    flat = arrays(corpus)
    actual = skip_bigram_matches(*flat.candidates, *flat.references, gap, 1)
    assert actual.dtype == np.int64
    np.testing.assert_array_equal(actual, expected_pairs(corpus, gap))


def test_skip_bigrams_without_limit_count_all_pairs() -> None:
    # Lin 2004: a sentence of four words has six.
    flat = arrays(Corpus([["police", "killed", "the", "gunman"]], [[["police", "killed", "the", "gunman"]]]))
    assert skip_bigram_matches(*flat.candidates, *flat.references, 2**62, 1).tolist() == [6]


def test_sequence_kernels_are_equal_on_any_number_of_threads() -> None:
    corpus = large_corpus(1_300)
    flat = arrays(corpus)
    lengths = lcs_lengths(*flat.candidates, *flat.references, 1)
    np.testing.assert_array_equal(lengths, expected_lcs(corpus))
    pairs = skip_bigram_matches(*flat.candidates, *flat.references, 4, 1)
    np.testing.assert_array_equal(pairs, expected_pairs(corpus, 4))
    for threads in (2, 7, 64):
        np.testing.assert_array_equal(lcs_lengths(*flat.candidates, *flat.references, threads), lengths)
        np.testing.assert_array_equal(skip_bigram_matches(*flat.candidates, *flat.references, 4, threads), pairs)


@given(captions=st.lists(st.tuples(*[st.lists(st.integers(0, 3), max_size=7)] * 2), min_size=1, max_size=6))
def test_places_are_those_of_a_longest_common_subsequence_with_the_most_neighbors(
    captions: list[tuple[list[int], list[int]]],
) -> None:
    sides = [[pair[side] for pair in captions] for side in (0, 1)]
    arrays = [(np.array([*chain.from_iterable(side)], np.int32), np.cumsum([0, *map(len, side)])) for side in sides]
    found = subsequence_places(*arrays[0], *arrays[1], 2)
    for (words, others), start in zip(captions, arrays[0][1].tolist(), strict=False):
        expected = subsequence([*map(str, words)], [*map(str, others)])
        own = found[start : start + len(words)].tolist()
        assert own == [-1 if place is None else place for place in expected]
        assert _quality(own) == max(map(_quality, _alignments(words, others)))


def _alignments(words: list[int], others: list[int], start: int = 0) -> Iterator[list[int]]:
    """Yield all ways to pair equal words in order."""
    if not words:
        yield []
        return
    for rest in _alignments(words[1:], others, start):
        yield [-1, *rest]
    for place in range(start, len(others)):
        if others[place] == words[0]:
            for rest in _alignments(words[1:], others, place + 1):
                yield [place, *rest]


def _quality(places: list[int]) -> tuple[int, int]:
    """Return the number of pairs, and of neighbors among them."""
    neighbors = sum(a >= 0 and b == a + 1 for a, b in pairwise(places))
    return sum(place >= 0 for place in places), neighbors


def test_captions_that_are_too_long_have_no_places() -> None:
    long = np.zeros(2_100, np.int32), np.array([0, 2_100])
    assert (subsequence_places(*long, *long, 1) == -1).all()
    with pytest.raises(ValueError, match="not as many captions"):
        subsequence_places(*long, np.zeros(2, np.int32), np.array([0, 1, 2]), 1)
