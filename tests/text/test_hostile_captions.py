"""Captions that are meant to hurt: very long, without spaces, of characters that make rules look far ahead."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captious.native import TokenizerRule, Vocabulary
from captious.text import PTB, PTB_RAW
from tests.support.tables import tables

SIZE = 100_000

#: Each is repeated until it has 100 kB.
SHAPES = tables(__file__)["shapes"]


def seconds(caption: str) -> float:
    start = time.process_time()
    tokens = PTB_RAW(caption)
    elapsed = time.process_time() - start
    assert all(tokens)
    return elapsed


@pytest.mark.parametrize("shape", SHAPES)
def test_long_captions_take_no_time(shape: str) -> None:
    # Behind one more byte, characters of several bytes lie at odd places.
    unit = SHAPES[shape]
    caption = unit * (SIZE // len(unit.encode()))
    assert max(seconds(caption), seconds("x" + caption), seconds("1" + caption + " end.")) < 1.0


@pytest.mark.parametrize("letter", ["犬", "a", "é", "Σ"])
def test_long_runs_of_sigmas_take_linear_time(letter: str) -> None:
    # A capital sigma is lower-cased by what stands around it, however far away.
    assert seconds(letter * 6_000 + "Σ" * 6_000 + letter) < 1.0
    assert seconds(letter * 6_000 + "Σ犬" * 3_000) < 1.0


def test_long_caption_does_not_change_its_neighbors() -> None:
    captions = ("a dog .", "a@" * 50_000, "two men", "(" * 50_000, "")
    vocabulary = Vocabulary()
    ids, offsets = vocabulary.encode(captions, TokenizerRule.ptb_raw, 2)
    words = vocabulary.words()
    tokens = [[words[i] for i in ids[a:b]] for a, b in itertools.pairwise(offsets)]
    assert tokens == [PTB_RAW(caption) for caption in captions]
    assert tokens[3] == ["-lrb-"] * 50_000


def check(caption: str) -> None:
    raw, filtered = PTB_RAW(caption), PTB(caption)
    assert raw == PTB_RAW(caption)
    for token in raw:
        assert token
        assert not any(character in " \t\n\r\v\f\0" for character in token)
        assert not any("A" <= character <= "Z" for character in token)
        token.encode()
    left = iter(raw)
    assert all(token in left for token in filtered)


any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
#: Pieces that rules are about, in any order.
PIECES = (
    *"abAZ019 .,'-/@#&<>()[]:;!?\"$%*_=~^|\\`",
    *"éÉßİΣς½£€…–—“”‘’«»\u00a0\u00ad\u200b\u2009犬😀",
    "n't", "'s", "U.S.", "Mr.", "Inc.", "&amp;", "&quot;", "http://", "www.", ".com", "<b>", "</b>", "...", "--",
    "1/2", "(555)", "can", "not", "The", "no.", "cont'd", ":-)", "AT&T", "\n", "\r", "\0",
)  # fmt: skip


@settings(max_examples=300)
@given(any_text)
def test_arbitrary_text_is_tokenized(caption: str) -> None:
    check(caption)


@settings(max_examples=500)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_special_pieces_in_any_order_are_tokenized(caption: str) -> None:
    check(caption)


@given(any_text, st.sampled_from([" ", "  ", "\t", "\u3000"]))
def test_blanks_around_a_caption_do_not_matter(caption: str, blank: str) -> None:
    assert PTB_RAW(blank + caption) == PTB_RAW(caption)
