"""Tokenizers by name and by function, and the plain ones that cut at white space."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import captious
from captious.data import References, Stored
from captious.errors import EncodingError, ParameterError, UnknownNameError
from captious.native import Vocabulary
from captious.resources.meteor_tables import MeteorTables
from captious.text import PTB, PTB_RAW, SPACES, WHITESPACE, Tokenizer, TokenLayer, Tokens, WordLayer, as_tokenizer
from captious.text.meteor_words import MeteorLayer
from captious.text.tokenizers import PTB_HARNESS, SMURF
from tests.support.corpora import table

#: Any text, with much white space of every kind.
BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000\u200b\ufeff\u180e"
texts = st.text(st.one_of(st.sampled_from(BLANKS), st.characters(exclude_categories=["Cs"])), max_size=40)


@given(texts)
@example(BLANKS)
@example("")
def test_whitespace_is_split(caption: str) -> None:
    assert WHITESPACE(caption) == caption.split()


@given(texts)
@example("")
@example("  a  ")
def test_spaces_is_split_at_single_spaces(caption: str) -> None:
    assert SPACES(caption) == caption.split(" ")


def test_whitespace_splits_at_every_space_character() -> None:
    for code in range(0x110000):
        if chr(code).isspace():
            assert WHITESPACE(f"a{chr(code)}b") == ["a", "b"], hex(code)
    some = "".join(chr(code) for code in range(0x3100) if not chr(code).isspace())
    assert WHITESPACE(some) == [some]


def test_case_is_kept() -> None:
    assert WHITESPACE("A Dog.") == ["A", "Dog."]


# ---- names


@pytest.mark.parametrize("tokenizer", [PTB, PTB_RAW, WHITESPACE, SPACES], ids=lambda tokenizer: tokenizer.name)
def test_built_in_tokenizers_have_names(tokenizer: Tokenizer) -> None:
    assert as_tokenizer(tokenizer.name) is tokenizer
    assert as_tokenizer(tokenizer) is tokenizer
    assert captious.Bleu(tokenizer=tokenizer.name).tokenizer is tokenizer


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="no tokenizer 'moses'") as caught:
        as_tokenizer("moses")
    assert "ptb, ptb-harness, ptb-raw, whitespace, spaces, smurf" in caught.value.hint


def test_the_tokenizer_of_smurf_has_a_name() -> None:
    assert as_tokenizer("SMURF") is SMURF
    assert SMURF("Two dogs, in a park.") == ["two", "dogs", ",", "in", "a", "park"]
    report = captious.score(["a dog"], [["a dog", "the dog"]], "sparcs:tokenizer=smurf")
    assert report["sparcs:tokenizer=smurf"].score == 1.0


def letters(caption: str) -> list[str]:
    return list(caption)


class Cutter:
    def cut(self, caption: str) -> list[str]:
        return caption.split("-")

    @staticmethod
    def halves(caption: str) -> list[str]:
        return [caption[: len(caption) // 2], caption[len(caption) // 2 :]]

    def __call__(self, caption: str) -> list[str]:
        return caption.split("-")


def test_functions_are_named_after_themselves() -> None:
    assert as_tokenizer(letters).name == f"{__name__}.letters"
    assert as_tokenizer(Cutter().cut).name == f"{__name__}.Cutter.cut"
    assert as_tokenizer(Cutter.halves).name == f"{__name__}.Cutter.halves"

    def local(caption: str) -> list[str]:
        return [caption]

    assert as_tokenizer(local).name == f"{__name__}.test_functions_are_named_after_themselves.local"


def test_methods_of_str_are_named_after_themselves() -> None:
    assert as_tokenizer(str.split).name == "str.split"
    assert as_tokenizer(str.split)("a  b") == ["a", "b"]


@pytest.mark.parametrize(
    "nameless", [lambda caption: [caption], partial(letters), Cutter()], ids=["lambda", "partial", "object"]
)
def test_functions_without_a_name_need_one(nameless: Callable[[str], list[str]]) -> None:
    with pytest.raises(ParameterError, match="no name") as caught:
        as_tokenizer(nameless)
    assert "captious.Tokenizer(" in caught.value.hint
    named = Tokenizer("mine-1.0_b", nameless)
    assert as_tokenizer(named) is named
    assert "tokenizer:mine-1.0_b" in captious.RougeL(tokenizer=named).signatures()[0]


@pytest.mark.parametrize("name", ["", "a|b", "a:b", "two words", "a/b", "a\n"])
def test_names_must_fit_a_signature(name: str) -> None:
    with pytest.raises(ParameterError, match="cannot name a tokenizer"):
        Tokenizer(name, letters)


def test_a_tokenizer_needs_a_function() -> None:
    with pytest.raises(ParameterError, match="needs a function"):
        Tokenizer("mine")
    for nothing in (None, 42, ["ptb"]):
        with pytest.raises(ParameterError, match="is not a tokenizer"):
            as_tokenizer(nothing)  # type: ignore[arg-type]


# ---- functions


def test_functions_work_as_tokenizers() -> None:
    assert as_tokenizer(letters)("a dog") == ["a", " ", "d", "o", "g"]
    captions = table(["abc", ""], [["abd", "xyz"], ["a"]])
    scores = captious.RougeL(tokenizer=letters).statistics(captions)[:, 0]
    assert scores[0] > 0
    assert scores[1] == 0


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), max_size=6))
def test_functions_are_asked_once_a_caption(captions: list[str]) -> None:
    calls: list[str] = []

    def remember(caption: str) -> list[str]:
        calls.append(caption)
        return caption.split("a")

    vocabulary = Vocabulary()
    ids, offsets = as_tokenizer(remember).encode(captions, vocabulary)
    words = vocabulary.words()
    tokens = [[words[i] for i in ids[a:b]] for a, b in itertools.pairwise(offsets)]
    assert tokens == [caption.split("a") for caption in captions]
    assert calls == captions


def test_tokenizer_returns_a_list_of_any_sequence() -> None:
    assert Tokenizer("pairs", lambda caption: tuple(caption.split()))("a b") == ["a", "b"]
    assert Tokenizer("none", lambda caption: [])("a b") == []


def never(caption: str) -> Any:
    return None


def one_string(caption: str) -> Any:
    return caption


def numbers(caption: str) -> Any:
    return [1, 2]


def as_bytes(caption: str) -> Any:
    return caption.encode().split()


def generated(caption: str) -> Any:
    return (word for word in caption.split())


def mapped(caption: str) -> Any:
    return map(str.lower, caption.split())


@pytest.mark.parametrize("wrong", [never, one_string, numbers, as_bytes])
def test_functions_that_give_something_else(wrong: Callable[[str], Any]) -> None:
    with pytest.raises(ParameterError, match=f"the tokenizer {__name__}.{wrong.__name__} returned") as caught:
        as_tokenizer(wrong).encode(["a dog"], Vocabulary())
    assert "'a dog'" in caught.value.where
    assert "list of strings" in caught.value.hint


@pytest.mark.parametrize("lazy", [generated, mapped])
def test_tokens_given_one_by_one_are_refused(lazy: Callable[[str], Any]) -> None:
    """Whoever reads them twice would find none, and scores of zero."""
    with pytest.raises(ParameterError, match=f"{lazy.__name__} returned"):
        as_tokenizer(lazy)("a dog")


# ---- what is not text


@pytest.mark.parametrize("tokenizer", [PTB, PTB_RAW, WHITESPACE, SPACES, Tokenizer("words", str.split)])
@pytest.mark.parametrize("method", ["encode", "look_up_words"])
def test_lone_surrogates_are_named_by_caption_and_character(tokenizer: Tokenizer, method: str) -> None:
    captions = ["a dog", "a \ud83d dog", "\udc00"]
    with pytest.raises(EncodingError) as caught:
        getattr(tokenizer, method)(captions, Vocabulary())
    assert "U+D83D" in caught.value.message
    assert "caption 1, character 2" in caught.value.where
    assert "UTF-8" in caught.value.hint


@pytest.mark.parametrize("tokenizer", [PTB, PTB_RAW, WHITESPACE, SPACES, Tokenizer("letters", list)])
@given(st.lists(texts, max_size=5), st.lists(texts, max_size=3))
def test_looking_words_up_is_encoding_and_cutting(tokenizer: Tokenizer, captions: list[str], known: list[str]) -> None:
    vocabulary = Vocabulary()
    tokenizer.encode(known, vocabulary)
    before = vocabulary.words()
    ids, offsets = tokenizer.look_up_words(captions, vocabulary)
    assert vocabulary.words() == before
    for caption, start, end in zip(captions, offsets[:-1], offsets[1:], strict=True):
        pieces = [piece for token in tokenizer(caption) for piece in token.split()]
        strangers = dict.fromkeys(piece for piece in pieces if piece not in before)
        number = {word: i for i, word in enumerate([*before, *strangers])}
        assert ids[start:end].tolist() == [number[piece] for piece in pieces]


def test_lone_surrogates_that_a_tokenizer_makes() -> None:
    with pytest.raises(EncodingError, match="a token contains a lone surrogate"):
        Tokenizer("halves", lambda caption: ["\ud83d"])("a dog")


# ---- unbreakable spaces


def words_of(tokens: Tokens) -> list[list[str]]:
    words = tokens.vocabulary.words()
    return [[words[i] for i in tokens.ids[a:b]] for a, b in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)]


@given(st.lists(st.lists(st.text(st.sampled_from("ab\u00a0\u3000 "), max_size=4), max_size=5), max_size=5))
def test_split_cuts_tokens_as_python_does(captions: list[list[str]]) -> None:
    tokens = Tokens.of(
        [str(i) for i in range(len(captions))], Tokenizer("made", lambda caption: captions[int(caption)])
    )
    split = tokens.split()
    assert words_of(split) == [[piece for token in caption for piece in token.split()] for caption in captions]
    assert (split is tokens) == all(token.split() == [token] for caption in captions for token in caption)
    assert split.lengths.tolist() == [len(caption) for caption in words_of(split)]
    assert split.ids.dtype == np.int32
    assert split.offsets.dtype == np.int64
    assert split.split() is split


def test_bleu_and_cider_cut_at_unbreakable_spaces_and_rouge_l_does_not() -> None:
    captions = table(["3 1/2 dogs"], [["3 1/2 dogs", "a dog"]])
    candidates, references = captions.layer(TokenLayer(PTB))
    assert words_of(candidates) == [["3\u00a01/2", "dogs"]]
    words, _ = captions.layer(WordLayer(PTB))
    assert words_of(words) == [["3", "1/2", "dogs"]]
    assert words_of(references)[0] == ["3\u00a01/2", "dogs"]
    assert captious.Bleu().statistics(captions)[0, 8] == 3
    half = table(["3 1/2"], [["3 cats", "1/2 cats"]])
    assert captious.RougeL().statistics(half)[0, 0] == 0
    assert captious.UnigramRecall().statistics(half)[0, 0] == 0.5


def test_systems_share_the_tokens_of_their_references() -> None:
    references = References((1, 2), ("a dog", "two men"), np.array([0, 1, 2]))
    first, second = captious.Captions(("a", "b"), references), captious.Captions(("b c", "d"), references)
    layer = TokenLayer(PTB)
    assert first.layer(layer)[1] is second.layer(layer)[1]
    assert words_of(first.layer(layer)[0]) == [["a"], ["b"]]
    assert words_of(second.layer(layer)[0]) == [["b", "c"], ["d"]]


def test_stored_words_of_meteor_need_a_lexicon_of_the_same_words(meteor_tables: MeteorTables) -> None:
    references = References((1,), ("a dog",), np.array([0, 1]))
    layer = MeteorLayer(PTB, meteor_tables)
    stored = layer.to_stored(layer.of_references(references), references)
    assert layer.from_stored(stored, references).vocabulary.words() == ["a", "dog"]
    more = Vocabulary()
    more.add(("a", "dog", "cat"))
    with pytest.raises(ValueError, match="a lexicon of other words"):
        layer.from_stored(Stored({**stored.arrays, **more.arrays()}), references)


class TestCaptionsAsOneText:
    """The ten real captions that the official program cuts by what comes next, and some that it does not."""

    @pytest.mark.parametrize(
        ("caption", "following", "last"),
        [
            ("a sign with a P.", "A black car", "p"),
            ("the new Nintendo Wii U.", "A man plays", "u"),
            ("pre-tax profits to \u00a346.6m.", "If it rains", "m"),
            ("between First and 8th Ave/CTH D.", "A blue bus", "d"),
            ("all is well in the world. :)", "The owner smiles", ":-rrb-"),
            ("a sign with a P.", "black cars", "p."),  # the next word does not begin sentences
            ("a sign with a P.", "Ashes in a bowl", "p."),
            ("a sign with a P.", "", "p."),
            ("a sign with a cap.", "A black car", "cap"),
        ],
    )
    def test_ends_of_captions(self, caption: str, following: str, last: str) -> None:
        vocabulary = Vocabulary()
        ids, offsets = PTB_HARNESS.encode([caption, following], vocabulary)
        words = vocabulary.words()
        tokens = [words[i] for i in ids.tolist()]
        assert tokens[offsets[1] - 1] == last
        assert tokens[offsets[1] :] == PTB(following)
        assert tokens[: offsets[1] - 1] == PTB(caption)[: offsets[1] - 1]

    def test_the_last_caption_stands_alone(self) -> None:
        assert PTB_HARNESS("a sign with a P.") == PTB("a sign with a P.")

    @given(
        st.lists(st.sampled_from(["a P.", "A cat", "8)", ":)", "", "The", "x. ", "I.", "<3", "a dog :-"]), max_size=8)
    )
    def test_offsets_and_tokens_fit(self, captions: list[str]) -> None:
        ids, offsets = PTB_HARNESS.encode(captions, Vocabulary())
        assert offsets[0] == 0
        assert offsets[-1] == len(ids)
        assert len(offsets) == len(captions) + 1
        assert (np.diff(offsets) >= 0).all()
