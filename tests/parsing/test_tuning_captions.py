"""Captions drawn from the bundled grammar."""

from __future__ import annotations

from collections import Counter

from captious.parsing.sources import parser_with
from captious.parsing.tree_parser import drawn_captions, sample_captions


def test_drawn_captions_depend_on_the_seed_only() -> None:
    assert drawn_captions(50) == drawn_captions(50)
    assert drawn_captions(50) != drawn_captions(50, seed=1)


def test_drawn_captions_resemble_real_captions() -> None:
    drawn = drawn_captions(2000)
    assert {len(caption) for caption in drawn} == set(range(min(map(len, drawn)), 21))
    words = Counter(word for caption in drawn for word in caption)
    often = Counter(word for caption in sample_captions() for word in caption)
    assert set(dict(often.most_common(6))) <= set(dict(words.most_common(12)))
    assert not any(word.startswith("UNK") for word in words)


def test_tuning_captions_are_drawn_from_the_grammar() -> None:
    trees = parser_with("bundled").parser.derivations(drawn_captions(200))
    assert (trees.scores > -1000).all()  # none needs the last resort
