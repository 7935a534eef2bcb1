"""The vocabulary of a critique."""

from __future__ import annotations

import string

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from captious.learned.leic import END, FIRST_WORD, PAD, UNKNOWN, encoded, vocabulary_of, words_of


def test_words_are_those_of_nltk_without_punctuation() -> None:
    assert words_of('A Dog, running. It\'s "fast"!') == ["a", "dog", "running", "it", "'s", "``", "fast", "''"]
    assert words_of("...") == ["..."]  # not a part of string.punctuation, so the official code keeps it
    assert words_of("., !") == []


@given(st.text(alphabet="abc .,'!?-\"\n", max_size=40))
def test_words_of_a_caption_contain_no_punctuation_mark(caption: str) -> None:
    assert all(word and word not in string.punctuation for word in words_of(caption))


def test_the_vocabulary_is_ordered_by_frequency_and_later_words_first() -> None:
    assert vocabulary_of(["b a a", "c b a"], 10, 1) == ("a", "b", "c")
    assert vocabulary_of(["x y", "z"], 10, 1) == ("z", "y", "x")
    assert vocabulary_of(["b a a", "c b a"], 2, 1) == ("a", "b")
    assert vocabulary_of(["b a a", "c b a"], 10, 2) == ("a", "b")


def test_captions_end_where_there_is_room() -> None:
    numbers = {"a": FIRST_WORD, "dog": FIRST_WORD + 1}
    rows = encoded(["a dog", "a dog a", "a cat a dog a", ""], numbers, 3)
    a, dog = numbers.values()
    np.testing.assert_array_equal(rows, [[a, dog, END], [a, dog, a], [a, UNKNOWN, a], [END, PAD, PAD]])
