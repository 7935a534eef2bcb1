"""Tokens as NLTK cuts them: sentences, and tokens by the rules of the Penn Treebank."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.text import tokenizers
from captious.text.tokenizers import plain_tokens, sentences, treebank_tokens, treebank_tokens_325, word_tokenize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a dog. a cat.", ["a dog.", " a cat."]),
        ("is it a dog? (a cat!) yes", ["is it a dog?", " (a cat!)", " yes"]),
        ("near st. james ave. in the u.s. on nov. 3", ["near st. james ave. in the u.s. on nov. 3"]),
        ("mr. t. and 2. and so on.. and more", ["mr. t. and 2. and so on.. and more"]),
        ("", [""]),
    ],
)
def test_nltk_sentences_are_as_expected(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("A dog's bone.", "a dog 's bone ."),
        ('A sign says "Stop," at 3,000 ft.', "a sign says `` stop , '' at 3,000 ft ."),
        ("He can't; he won't - cannot!", "he ca n't ; he wo n't - can not !"),
        ("dogs... and cats.", "dogs ... and cats ."),
        ("fire-hydrant/car (red)", "fire-hydrant/car ( red )"),
        ("one dog. two cats", "one dog . two cats"),
        ('"a dog" and "cats"', "`` a dog '' and `` cats ''"),
        ("", ""),
    ],
)
def test_nltk_words_are_as_expected(caption: str, expected: str) -> None:
    assert word_tokenize(caption) == expected.split()


PIECES = st.sampled_from(
    ["dog", "Cannot", "gonna", "3", "-", "--", ",", ".", " ", "  ", "'s", '"', "a.m", "!", "..", "\n"]
)

#: All that the rules look for beyond that.
MARKS = st.sampled_from(
    [
        *"«»“”‘’„`'()[]{}<>:;@#$%&?*",
        *("``", "''", "...", ". ", "' ", "'S ", "'m", "'D ", "n't ", "N'T ", "'ll ", "'RE", ",5", ":a", "re", "s", "é"),
        *("d'ye", "gimme", "Gotta", "lemme", "more'n", "wanna ", " 'tis", " 'Twas"),
    ]
)


@given(st.lists(PIECES).map("".join))
def test_the_short_cut_gives_what_the_rules_give(text: str) -> None:
    plain = plain_tokens(text)
    if plain is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizers, "plain_tokens", lambda text: None)
        assert treebank_tokens(text) == plain
        assert treebank_tokens_325(text) == plain
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("a dog, a cat", "a dog , a cat"),
        ("a 1,000 dogs", "a 1,000 dogs"),
        ("it's the dogs' don't", "it 's the dogs ' do n't"),
        ("cannot gonna Gimme wanna go", "can not gon na Gim me wan na go"),
        ('a "red" dog', "a `` red '' dog"),
        ('"red" dogs', "`` red '' dogs"),
        ("(one) [two] {three}", "( one ) [ two ] { three }"),
        ("a -- b--c well-kept", "a -- b -- c well-kept"),
        ("what?! @home #1 50%", "what ? ! @ home # 1 50 %"),
        ("'tis a more'n d'ye", "'t is a more 'n d 'ye"),
        ("a full stop.", "a full stop ."),
        ("wait... yes", "wait ... yes"),
        ("“so” ‘it’ «is»", "“ so ” ‘ it ’ « is »"),
        ("", ""),
    ],
)
def test_treebank_tokens_are_as_expected(sentence: str, tokens: str) -> None:
    assert treebank_tokens(sentence) == tokens.split()


@given(st.lists(st.one_of(PIECES.filter(str.isprintable), MARKS)).map("".join))
def test_tokens_of_any_marks_are_those_of_nltk(text: str) -> None:
    """NLTK 3.10 differs after a quote before a word, in dashes and in white space, which are left out here."""
    destructive = pytest.importorskip("nltk.tokenize.destructive")
    nltk = destructive.NLTKWordTokenizer()
    before_a_letter = (re.compile(r"(?i)(')(?!re|ve|ll|m|t|s|d|n)(\w)\b"), r"\1 \2")
    nltk.STARTING_QUOTES = [*nltk.STARTING_QUOTES[:4], before_a_letter]
    assert treebank_tokens(text) == nltk.tokenize(text)
