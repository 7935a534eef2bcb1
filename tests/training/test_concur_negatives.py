"""Captions made wrong, which concur@full learns from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from captious.learned.caption_weights import CaptionWeights
from captious.text import PTB
from captious.text.tokens import Tokens

WEIGHTS = CaptionWeights.load()
THINGS = ("dog", "cat", "horse", "cow", "bird", "sheep")
PLACES = ("grass", "sand", "snow", "street", "beach")


@pytest.fixture
def modules(program: Callable[[str], ModuleType]) -> tuple[ModuleType, ModuleType]:
    return program("examples"), program("negatives")


def made(modules: tuple[ModuleType, ModuleType], kept_out: set[str], seed: int = 0) -> tuple[Any, dict[Any, Any]]:
    examples, negatives = modules
    texts = tuple(
        f"two {color} {thing}s are standing near a {other} with a ball on the {place}"
        for thing in THINGS
        for other in THINGS
        for color, place in zip(("brown", "white", "black", "small", "young"), PLACES, strict=True)
        if thing != other
    )
    images = {number: np.array([number, (number + 1) % len(texts)]) for number in range(len(texts))}
    tokenizer = examples.tokenizer_of("en")
    tokens = Tokens.of(texts, tokenizer).split()
    known = examples.Examples(texts, tokens, images, (), (), tokenizer, 0, kept_out)
    return known, negatives.make_negatives(known, WEIGHTS.words, WEIGHTS.vectors, seed=seed)


def test_every_wrong_caption_differs_from_its_caption(modules: tuple[ModuleType, ModuleType]) -> None:
    examples, found = made(modules, set())
    assert len(found) > 100
    ways = {negative.way for negative in found.values()}
    assert {"noun", "nouns swapped", "negated", "shuffled", "cut off", "repeated"} <= ways <= {*modules[1].WAYS}
    for image, negative in found.items():
        assert negative.caption in examples.images[image]
        words = tuple(PTB(examples.texts[negative.caption]))
        assert negative.words != words
        if "swapped" in negative.way or negative.way == "shuffled":
            assert sorted(negative.words) == sorted(words)
        if negative.way == "negated":
            assert {"not", "no", "without"} & {*negative.words}
        if negative.way == "cut off":
            assert negative.words == words[: len(negative.words)]
        if negative.way == "noun":
            new = {*negative.words} - {*words} - {"a", "an"}
            seen = {word for i in examples.images[image] for word in PTB(examples.texts[i])}
            assert new
            assert not new & seen


def test_equal_seeds_give_equal_captions(modules: tuple[ModuleType, ModuleType]) -> None:
    assert made(modules, set())[1] == made(modules, set())[1]
    assert made(modules, set())[1] != made(modules, set(), seed=1)[1]


def test_captions_of_evaluations_are_not_made(modules: tuple[ModuleType, ModuleType]) -> None:
    letters = modules[0].letters
    _, found = made(modules, set())
    kept_out = {letters(" ".join(negative.words)) for negative in found.values()}
    _, others = made(modules, kept_out)
    assert others
    assert not {letters(" ".join(negative.words)) for negative in others.values()} & kept_out


@pytest.mark.slow
@pytest.mark.nightly
def test_negatives_never_occur_in_an_evaluation(modules: tuple[ModuleType, ModuleType], shared_data: Path) -> None:
    examples, negatives = modules
    known = examples.Examples.read(shared_data)
    found = negatives.make_negatives(known, WEIGHTS.words, WEIGHTS.vectors)
    assert len(found) > 30_000
    made = {examples.letters(" ".join(negative.words)) for negative in found.values()}
    assert not made & examples.evaluation_captions(shared_data)
    assert {*found} <= {*known.images}
