"""Tokenizers by name: registered ones, and those that other packages offer through entry points."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, EntryPoints

import pytest

import captious
from captious.errors import ParameterError, UnknownNameError
from captious.text import Tokenizer, as_tokenizer, register_tokenizer, tokenizers


def characters(caption: str) -> list[str]:
    """Return a tokenizer for Chinese: every character that is not white space."""
    return [character for character in caption if not character.isspace()]


NOT_A_TOKENIZER = 5
WITH_A_NAME = Tokenizer("other", characters)

Offer = Callable[..., None]


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Offer]:
    """Make entry points that another package might have, and forget them and what was registered afterwards."""
    monkeypatch.setattr(tokenizers, "_registered", {})

    def offered(**values: str) -> None:
        points = [EntryPoint(name, f"{__name__}:{value}", "captious.tokenizers") for name, value in values.items()]
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda **chosen: EntryPoints(points).select(**chosen))
        vars(tokenizers._PLUGINS).pop("by_name", None)

    yield offered
    vars(tokenizers._PLUGINS).pop("by_name", None)


def test_registered_tokenizer_is_used_and_named(offer: Offer) -> None:
    register_tokenizer("chinese")(characters)
    assert as_tokenizer("chinese")("一只 狗") == ["一", "只", "狗"]
    settings = captious.Settings(tokenizer="chinese")
    report = captious.score({1: "一只狗"}, {1: ["一只猫", "一只狗"]}, ["bleu-1"], settings=settings)
    assert report["bleu-1"].score == pytest.approx(1)
    assert "|tokenizer:chinese|" in report["bleu-1"].signature


def test_tokenizer_of_another_package_is_found(offer: Offer) -> None:
    offer(chinese="characters", named="WITH_A_NAME")
    assert as_tokenizer("chinese").name == "chinese"
    assert as_tokenizer("named").name == "named"
    assert as_tokenizer("named")("狗 猫") == ["狗", "猫"]
    assert tokenizers.tokenizer_names()[-2:] == ["chinese", "named"]


def test_names_in_any_case(offer: Offer) -> None:
    offer(chinese="characters")
    register_tokenizer("Letters")(characters)
    for name in ("PTB-raw", "Chinese", "letters", "LETTERS"):
        assert as_tokenizer(name).name.lower() == name.lower()
    assert tokenizers.tokenizer_names()[-2:] == ["Letters", "chinese"]
    assert captious.Bleu(tokenizer="PTB").tokenizer is tokenizers.PTB
    with pytest.raises(ParameterError, match="the name PTB is taken"):
        register_tokenizer("PTB")(characters)


@pytest.mark.parametrize(("value", "message"), [("missing", "cannot be loaded"), ("NOT_A_TOKENIZER", "is not a token")])
def test_broken_entry_points_are_reported(offer: Offer, value: str, message: str) -> None:
    offer(chinese=value)
    with pytest.raises(ParameterError, match=message):
        as_tokenizer("chinese")


def test_names_that_are_taken_or_unknown(offer: Offer) -> None:
    offer(chinese="characters")
    with pytest.raises(ParameterError, match="the name ptb is taken"):
        register_tokenizer("ptb")(characters)
    with pytest.raises(UnknownNameError) as caught:
        as_tokenizer("japanese")
    assert "ptb, ptb-harness, ptb-raw, whitespace, spaces, smurf, unicode, 13a, " in caught.value.hint
    assert "flores200, chinese, or a function" in caught.value.hint
