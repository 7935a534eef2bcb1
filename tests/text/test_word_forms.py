"""One form for words that are written in several ways."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest

from captious.native import Vocabulary
from captious.text import PTB, Tokens
from captious.text.stems import negations, word_forms

ENGLISH = replace(PTB, form=word_forms("en"))


@pytest.mark.parametrize(
    ("language", "word", "form"),
    [
        ("en", "12", "twelve"),
        ("en", "20", "twenty"),
        ("en", "99", "ninety-nine"),
        ("en", "100", "100"),
        ("en", "2nd", "second"),
        ("en", "n't", "not"),
        ("en", "colourful", "colorful"),
        ("en", "discoloured", "discolored"),
        ("en", "theatres", "theaters"),
        ("en", "travelling", "traveling"),
        ("en", "organisations", "organizations"),
        ("en", "pyjamas", "pajamas"),
        ("en", "paediatric", "pediatric"),
        ("de", "12", "zwölf"),
        ("de", "21", "einundzwanzig"),
        ("de", "straße", "strasse"),
        ("fr", "12", "12"),
        ("fr", unicodedata.normalize("NFD", "café"), "café"),
    ],
)
def test_word_form_is_as_expected(language: str, word: str, form: str) -> None:
    assert word_forms(language)(word) == form
    assert word_forms(language)(form) == form


@pytest.mark.parametrize(
    "word", ["four", "hour", "pour", "tour", "your", "flour", "wise", "rise", "promise", "well", "tall", "here", "are"]
)
def test_other_words_keep_their_spelling(word: str) -> None:
    assert word_forms("en")(word) == word


def test_a_tokenizer_gives_forms_and_cuts_as_before() -> None:
    caption = "12 dogs aren't on the grey theatre 3 1/2"
    forms = ["twelve", "dogs", "are", "not", "on", "the", "gray", "theater"]
    assert ENGLISH(caption)[:8] == forms
    assert len(ENGLISH(caption)) == len(PTB(caption))
    vocabulary = Vocabulary()
    vocabulary.add(("twelve",))
    ids, _ = ENGLISH.look_up_words(["12 dogs"], vocabulary)
    assert ids.tolist() == [0, 1]


def test_tokens_in_one_form_are_those_of_the_tokenizer() -> None:
    captions = ["12 grey dogs", "3 1/2 colours", ""]
    written, expected = Tokens.of(captions, PTB), Tokens.of(captions, ENGLISH)
    found = written.in_one_form(word_forms("en"))
    for tokens in (found, found.split()):
        other = expected if tokens is found else expected.split()
        words, others = tokens.vocabulary.words(), other.vocabulary.words()
        assert [words[i] for i in tokens.ids] == [others[i] for i in other.ids]
        assert tokens.offsets.tolist() == other.offsets.tolist()


def test_negations_are_forms() -> None:
    for language in ("en", "de"):
        assert negations(language)
        assert all(word_forms(language)(word) == word for word in negations(language))
    assert not negations("fr")
