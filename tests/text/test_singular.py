"""Singulars as the package pattern makes them, errors included."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from captious.text.singular import singular

DATA = Path(__file__).parents[3] / "shared" / "data" / "chair" / "singular.tsv.gz"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("dogs", "dog"),
        ("people", "person"),
        ("policemen", "policeman"),
        ("knives", "knife"),
        ("sandwiches", "sandwich"),
        ("puppies", "puppy"),
        ("geese", "goose"),
        ("mice", "mouse"),
        ("scissors", "scissors"),
        ("luggage", "luggage"),
        ("buses", "bus"),
        ("dogs'", "dog's"),
        ("men-of-war", "man-of-war"),
        ("dog", "dog"),
        ("", ""),
        # what users should know about
        ("bus", "bu"),
        ("glass", "glas"),
        ("ties", "ty"),
        ("slice", "slouse"),
        ("four", "fmy"),
        ("collies", "collies"),
        ("is", "is"),
    ],
)
def test_words(word: str, expected: str) -> None:
    assert singular(word) == expected


@pytest.mark.skipif(not DATA.exists(), reason="no shared data")
def test_every_word_of_the_data() -> None:
    lines = gzip.decompress(DATA.read_bytes()).decode().splitlines()
    rows = [line.split("\t") for line in lines]
    assert len(rows) > 27_000
    assert [(word, singular(word)) for word, _, _ in rows] == [(word, expected) for word, expected, _ in rows]
