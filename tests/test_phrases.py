"""Phrases of messages."""

from __future__ import annotations

import pytest

from captious.words import counted, counted_of, sample_of, shortened


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        (counted(1, "image"), "1 image"),
        (counted(0, "image"), "0 images"),
        (counted(5000, "image"), "5,000 images"),
        (counted(1, "image", "were"), "1 image was"),
        (counted(2, "image", "were"), "2 images were"),
        (counted_of(1, 24, "image"), "1 of 24 images"),
        (counted_of(1, 24, "image", "have"), "1 of 24 images has"),
        (counted_of(2, 24, "image", "have"), "2 of 24 images have"),
        (counted_of(1, 1, "caption", "contain"), "1 of 1 caption contains"),
        (counted_of(0, 1, "caption", "are"), "0 of 1 caption are"),
    ],
)
def test_nouns_and_verbs_agree_with_counts(phrase: str, text: str) -> None:
    assert phrase == text


def test_at_most_three_items_are_shown() -> None:
    assert sample_of("abc") == "a, b, c"
    assert sample_of(range(20)) == "0, 1, 2 and 17 more"
    assert sample_of(range(2000), separator="; ") == "0; 1; 2 and 1,997 more"


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError


ITSELF: list[object] = []
ITSELF.append(ITSELF)


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        ("a cat", "'a cat'"),
        ("a cat on a mat, by the sea in winter", "'a cat on a mat, by the se...'"),
        ("it's a cat on a mat, by the sea in winter", '"it\'s a cat on a mat, by t..."'),
        ("\n" * 20, r"'\n\n\n\n\n\n\n\n\n\n\n\n...'"),
        ("a\x00" * 20, r"'a\x00a\x00a\x00a\x00a\x00...'"),
        ("\ud800" * 20, r"'\ud800\ud800\ud800\ud800...'"),
        ("abcdefghijk\U0010ffff\U0010ffff", r"'abcdefghijk\U0010ffff...'"),
        ("\\" * 20, "'" + "\\" * 24 + "...'"),
        ("é" * 40, f"'{'é' * 25}...'"),
        ("e\u0301" * 30, "'" + "e\u0301" * 12 + "...'"),
        ("🐈🏽" * 30, f"'{'🐈🏽' * 12}...'"),
        (b"\xff" * 20, r"b'\xff\xff\xff\xff\xff\xff..."),
        (["a", "b"], "['a', 'b']"),
        (["a cat on a mat"] * 5, "['a cat on a mat', ...]"),
        ([["a cat", "x"]] * 5, "[['a cat', ...], ...]"),
        ([*range(100)], "[0, 1, 2, 3, 4, ...]"),
        ({"a": 1}, "{'a': 1}"),
        ({"caption": "a cat on a mat by the sea"}, "{'caption': 'a cat o...'}"),
        ((1,), "(1,)"),
        (set(), "set()"),
        (ITSELF, "[[[...]]]"),
        (Unprintable(), "<Unprintable>"),
        (3.5, "3.5"),
    ],
)
def test_literals_are_cut_between_characters(value: object, literal: str) -> None:
    assert shortened(value, 30) == literal
    assert len(literal) <= 30


def test_a_literal_of_too_many_digits_is_named() -> None:
    assert shortened(10**5000) == "<int>"
