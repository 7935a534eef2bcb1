"""Vocabularies: words get numbers in the order in which they come, whatever the number of threads."""

from __future__ import annotations

import itertools
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.native import TokenizerRule, Vocabulary
from tests.support.corpora import large_corpus

words = st.text(max_size=8)


def by_hand(captions: list[list[str]], ordered: list[str]) -> tuple[list[int], list[int]]:
    """Return ids and offsets when words are numbered by first occurrence; `known` grows."""
    number = {word: i for i, word in enumerate(ordered)}
    ids, offsets = [], [0]
    for caption in captions:
        for word in caption:
            if word not in number:
                number[word] = len(number)
                ordered.append(word)
            ids.append(number[word])
        offsets.append(len(ids))
    return ids, offsets


@given(st.lists(words, max_size=60))
def test_add_find_and_words(added: list[str]) -> None:
    vocabulary = Vocabulary()
    ordered: list[str] = []
    expected, _ = by_hand([added], ordered)
    assert vocabulary.add(tuple(added)).tolist() == expected
    assert vocabulary.words() == ordered
    assert len(vocabulary) == len(ordered)
    assert vocabulary.find(tuple(ordered)).tolist() == list(range(len(ordered)))
    assert [vocabulary.word(i) for i in range(len(ordered))] == ordered
    assert vocabulary.find(("never heard",)).tolist() == [-1]
    assert vocabulary.add(tuple(added)).tolist() == expected


def test_encoding_returns_int32_ids_and_int64_offsets() -> None:
    vocabulary = Vocabulary()
    assert vocabulary.add(()).dtype == vocabulary.find(("a",)).dtype == np.int32
    ids, offsets = vocabulary.encode(("a b", ""), TokenizerRule.whitespace, 1)
    assert (ids.dtype, offsets.dtype) == (np.int32, np.int64)
    assert (ids.tolist(), offsets.tolist()) == ([0, 1], [0, 2, 2])


def test_words_that_look_alike_are_apart() -> None:
    added = ("", " ", "\0", "\0\0", "a", "a\0", "aaaaaaaa", "aaaaaaaaa", "á", "a\u0301", "A", "\U0001f600")
    vocabulary = Vocabulary()
    assert vocabulary.add(added).tolist() == list(range(len(added)))


def test_vocabulary_holds_a_hundred_thousand_words() -> None:
    many = tuple(f"word{i}" for i in range(100_000))
    vocabulary = Vocabulary()
    np.testing.assert_array_equal(vocabulary.add(many), np.arange(100_000))
    np.testing.assert_array_equal(vocabulary.find(many[::-1]), np.arange(100_000)[::-1])


@given(st.lists(words), st.lists(words))
def test_vocabulary_maps_its_ids_to_another(mine: list[str], theirs: list[str]) -> None:
    vocabulary, other = Vocabulary(), Vocabulary()
    vocabulary.add(tuple(mine))
    other.add(tuple(theirs))
    np.testing.assert_array_equal(vocabulary.ids_in(other), other.find(tuple(vocabulary.words())))
    np.testing.assert_array_equal(vocabulary.ids_in(vocabulary), np.arange(len(vocabulary)))


@given(st.lists(st.text(st.sampled_from("ab \u00a0\u3000\n"), max_size=4)))
def test_divisible_words_are_those_that_split_cuts(added: list[str]) -> None:
    vocabulary = Vocabulary()
    vocabulary.add(tuple(added))
    ordered = vocabulary.words()
    assert vocabulary.divisible().tolist() == [i for i, word in enumerate(ordered) if word.split() != [word]]


captions = st.lists(st.lists(st.sampled_from(["a", "b", "new", "newer", "dog"]), max_size=6), max_size=8)


@given(first=captions, second=captions)
def test_encoding_numbers_words_in_order_of_appearance(first: list[list[str]], second: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    ordered: list[str] = []
    for batch in (first, second):
        ids, offsets = vocabulary.encode(tuple(map(" ".join, batch)), TokenizerRule.whitespace, 1)
        assert (ids.tolist(), offsets.tolist()) == by_hand(batch, ordered)
    assert vocabulary.words() == ordered


@given(ordered=st.lists(st.sampled_from(["a", "b"])), batch=captions)
def test_lookup_adds_nothing_and_numbers_strangers_in_each_caption_anew(
    ordered: list[str], batch: list[list[str]]
) -> None:
    vocabulary = Vocabulary()
    vocabulary.add(tuple(ordered))
    before = vocabulary.words()
    ids, offsets = vocabulary.lookup(tuple(map(" ".join, batch)), TokenizerRule.whitespace, 1)
    assert vocabulary.words() == before
    for i, caption in enumerate(batch):
        expected, _ = by_hand([caption], before.copy())
        assert ids[offsets[i] : offsets[i + 1]].tolist() == expected


CUTS = (TokenizerRule.ptb, TokenizerRule.ptb_raw, TokenizerRule.whitespace, TokenizerRule.spaces)


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.name)
def test_threads_change_nothing(cut: TokenizerRule) -> None:
    rng = random.Random(3)
    texts = tuple(
        " ".join(caption) + rng.choice([".", "", " isn't", "  !"]) for caption in large_corpus(4_000).candidates
    )
    results = []
    for threads in (1, 2, 7, 64):
        vocabulary = Vocabulary()
        vocabulary.add(("w1", "w2"))
        looked_up = vocabulary.lookup(texts, cut, threads)
        results.append((*looked_up, *vocabulary.encode(texts, cut, threads), vocabulary.words()))
    for result in results[1:]:
        for actual, expected in zip(result, results[0], strict=True):
            np.testing.assert_array_equal(actual, expected)


def test_python_threads_may_share_a_vocabulary() -> None:
    texts = tuple(" ".join(caption) for caption in large_corpus(2_000, words=500).candidates)
    vocabulary = Vocabulary()

    def encode(start: int) -> bool:
        part = texts[start::8]
        ids, offsets = vocabulary.encode(part, TokenizerRule.whitespace, 2)
        again, _ = vocabulary.lookup(part, TokenizerRule.whitespace, 2)
        words = vocabulary.words()
        joined = [" ".join(words[i] for i in ids[a:b]) for a, b in itertools.pairwise(offsets)]
        return joined == list(part) and (ids == again).all()

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(encode, list(range(8)) * 4))
    assert len(set(vocabulary.words())) == len(vocabulary)
