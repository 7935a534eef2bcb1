"""Phrases of messages."""

from __future__ import annotations

import pytest

from captious.words import counted, counted_of, sample_of


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
