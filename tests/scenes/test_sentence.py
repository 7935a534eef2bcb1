"""Sentences as graphs: the order of words and their copies, and of neighbors in Java's hash tables."""

from __future__ import annotations

import pytest

from captious.scenes.tuples import Sentence
from tests.support.parses import parse


def test_words_are_in_order_of_the_sentence_each_copy_after_its_word() -> None:
    sentence = Sentence(
        parse("dogs/NNS run/VBP up/IN hills/NNS", "0<2:root 2<1:nsubj 2<4:nmod:up 6<8:nmod:down 2<6:conj")
    )
    assert sentence.words == ("", *("dogs", "run", "up", "hills") * 2)
    assert sentence.in_order([8, 6, 4, 2, 1]) == [1, 2, 6, 4, 8]
    assert sentence.sorted_topologically() == [2, 4, 6, 8, 1]


def test_words_without_copies_are_in_order() -> None:
    sentence = Sentence(parse("dogs/NNS run/VBP up/IN hills/NNS", "0<2:root 2<1:nsubj 2<4:nmod:up 4<3:case"))
    assert sentence.in_order([4, 2, 1, 3]) == [1, 2, 3, 4]
    assert Sentence(parse("", "")).words == ("",)


@pytest.mark.parametrize(
    ("dependents", "expected"),
    [
        ([2, 3, 17, 18, 19], [17, 2, 18, 3, 19]),  # in 16 buckets: 17 is with 1, 18 with 2
        ([*range(2, 14), 33, 34], [33, 2, 34, *range(3, 14)]),  # in 32, from 13 on
        ([*range(2, 12), 17, 33], [17, 33, *range(2, 12)]),
    ],
)
def test_neighbors_are_in_the_order_of_their_buckets(dependents: list[int], expected: list[int]) -> None:
    words = " ".join(f"w{i}/NN" for i in range(1, 36))
    sentence = Sentence(parse(words, "0<1:root " + " ".join(f"1<{dependent}:dep" for dependent in dependents)))
    assert [word for word, _ in sentence.edges_below(1)] == expected
