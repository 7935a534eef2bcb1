"""The kernels of n-gram metrics against the oracles: index of references, BLEU statistics, matches per reference."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from captious.native import NgramFrequencies, ReferenceNgrams, bleu_statistics, ngram_matches
from tests.native.arrays import arrays, of_ids
from tests.oracles import bleu
from tests.oracles.cider import frequencies
from tests.oracles.ngrams import matches, ngrams
from tests.support.corpora import TOY, Corpus, captions, corpora, large_corpus


def expected_bleu(corpus: Corpus) -> list[list[float]]:
    return [bleu.statistics(c, r) for c, r in zip(corpus.candidates, corpus.references, strict=True)]


def expected_matches(corpus: Corpus) -> list[list[int]]:
    return [
        [matches(ngrams(candidate, n), ngrams(reference, n)) for n in range(1, 5)]
        for candidate, references in zip(corpus.candidates, corpus.references, strict=True)
        for reference in references
    ]


@given(corpus=corpora(max_images=8))
@example(corpus=TOY)
@example(corpus=Corpus([[]], [[[]]]))
@example(corpus=Corpus([["a"]], [[["a"]]]))
def test_ngram_matches_of_small_corpora_equal_the_oracle(corpus: Corpus) -> None:
    flat = arrays(corpus)
    index = flat.index()
    assert len(index) == len(corpus.candidates)
    statistics = bleu_statistics(index, *flat.candidates, 1)
    assert statistics.dtype == np.float64
    np.testing.assert_array_equal(statistics, expected_bleu(corpus))
    shared = ngram_matches(index, *flat.candidates, 1)
    assert shared.dtype == np.int64
    np.testing.assert_array_equal(shared, expected_matches(corpus))


@given(candidate=captions(40), references=st.lists(captions(40), min_size=30, max_size=60))
def test_bleu_statistics_of_many_references_equal_the_oracle(candidate: list[str], references: list[list[str]]) -> None:
    corpus = Corpus([candidate], [references])
    flat = arrays(corpus)
    np.testing.assert_array_equal(bleu_statistics(flat.index(), *flat.candidates, 1), expected_bleu(corpus))
    np.testing.assert_array_equal(ngram_matches(flat.index(), *flat.candidates, 1), expected_matches(corpus))


@given(counted=corpora(max_images=8))
def test_document_frequencies_equal_the_oracle(counted: Corpus) -> None:
    flat = arrays(counted)
    counts = flat.frequencies()
    words = flat.vocabulary.words()
    ngrams, numbers = counts.entries()
    assert len(counts) == len(ngrams) == len(numbers)
    by_words = {
        tuple(words[i] for i in ngram if i >= 0): n for ngram, n in zip(ngrams.tolist(), numbers.tolist(), strict=True)
    }
    assert by_words == frequencies(counted.references).counts


def test_added_frequencies_add_up() -> None:
    counts = NgramFrequencies()
    ngrams_ = np.array([[0, -1, -1, -1], [0, 1, -1, -1], [0, -1, -1, -1], [2, 2, 2, 2]], np.int32)
    counts.add(ngrams_, np.array([1, 2, 3, 2_000_000_000]))
    counts.add(ngrams_[:1], np.array([10]))
    ngrams, numbers = counts.entries()
    assert dict(zip(map(tuple, ngrams.tolist()), numbers.tolist(), strict=True)) == {
        (0, -1, -1, -1): 14,
        (0, 1, -1, -1): 2,
        (2, 2, 2, 2): 2_000_000_000,
    }


def test_image_with_very_many_ngrams_is_counted_fully() -> None:
    # More than 65,535 distinct n-grams in one image, among small ones: small indices are kept in half the space.
    rng = np.random.default_rng(6)
    huge = [rng.integers(3_000, size=9_000).tolist() for _ in range(3)]
    references = [[[0, 1, 2], [2, 1]], huge, [[1, 1, 1]]]
    candidates = [[0, 1, 2, 9], huge[0][100:160] + huge[1][5:9] + [5_000], [1, 1, 1, 1]]
    index = ReferenceNgrams(
        *of_ids([reference for of_image in references for reference in of_image]), np.array([0, 2, 5, 6]), 1
    )
    as_words = Corpus(
        [[str(i) for i in candidate] for candidate in candidates],
        [[[str(i) for i in reference] for reference in of_image] for of_image in references],
    )
    distinct = {gram for reference in as_words.references[1] for n in range(1, 5) for gram in ngrams(reference, n)}
    assert len(distinct) > 65_535
    np.testing.assert_array_equal(bleu_statistics(index, *of_ids(candidates), 1), expected_bleu(as_words))
    np.testing.assert_array_equal(ngram_matches(index, *of_ids(candidates), 1), expected_matches(as_words))
    counts = NgramFrequencies()
    counts.count(index, 1)
    assert len(counts) == len(frequencies(as_words.references).counts)


def test_indices_agree_around_their_size_limit() -> None:
    # n distinct words in a row make 4 n - 6 distinct n-grams.
    for words in (16_383, 16_384, 16_385, 16_386):
        reference = list(range(words))
        index = ReferenceNgrams(*of_ids([reference]), np.array([0, 1]), 1)
        statistics = bleu_statistics(index, *of_ids([reference]), 1)[0]
        assert statistics[:4].tolist() == [words, words - 1, words - 2, words - 3]
        counts = NgramFrequencies()
        counts.count(index, 1)
        assert len(counts) == 4 * words - 6


def test_ngram_kernels_of_no_images_return_no_rows() -> None:
    index = ReferenceNgrams(*of_ids([]), np.array([0]), 3)
    assert len(index) == 0
    assert bleu_statistics(index, *of_ids([]), 3).shape == (0, 10)
    assert ngram_matches(index, *of_ids([]), 3).shape == (0, 4)


def test_ngram_counts_are_equal_on_any_number_of_threads() -> None:
    corpus = large_corpus(1_300)
    flat = arrays(corpus)
    expected = bleu_statistics(flat.index(1), *flat.candidates, 1)
    np.testing.assert_array_equal(expected, expected_bleu(corpus))
    shared = ngram_matches(flat.index(1), *flat.candidates, 1)
    np.testing.assert_array_equal(shared, expected_matches(corpus))
    ngrams_, numbers = flat.frequencies(1).entries()
    for threads in (2, 7, 64, 0, -1):
        index = flat.index(threads)
        np.testing.assert_array_equal(bleu_statistics(index, *flat.candidates, threads), expected)
        np.testing.assert_array_equal(ngram_matches(index, *flat.candidates, threads), shared)
        other_ngrams, other_numbers = flat.frequencies(threads).entries()
        np.testing.assert_array_equal(other_ngrams, ngrams_)
        np.testing.assert_array_equal(other_numbers, numbers)
