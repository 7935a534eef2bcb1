"""Words as programs with NLTK read them: sentences, tokens, lemmas."""

from __future__ import annotations

import pickle
import sys
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.errors import MissingExtraError, ResourceError
from captious.text import treebank
from captious.text.nltk_words import Singulars, lemmas, word_tokenize
from captious.text.sentences import sentences
from captious.text.treebank import plain_tokens, treebank_tokens, treebank_tokens_325


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
def test_sentences(text: str, expected: list[str]) -> None:
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
        ("", ""),
    ],
)
def test_tokens(caption: str, expected: str) -> None:
    assert word_tokenize(caption) == expected.split()


PIECES = st.sampled_from(
    ["dog", "Cannot", "gonna", "3", "-", "--", ",", ".", " ", "  ", "'s", '"', "a.m", "!", "..", "\n"]
)


@given(st.lists(PIECES).map("".join))
def test_the_short_cut_gives_what_the_rules_give(text: str) -> None:
    plain = plain_tokens(text)
    if plain is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(treebank, "plain_tokens", lambda text: None)
        assert treebank_tokens(text) == plain
        assert treebank_tokens_325(text) == plain
    assert sentences(text) == [text]


def test_singulars() -> None:
    assert Singulars()(["two", "dogs", "bus"]) == ["two", "dog", "bu"]
    kept = pickle.loads(pickle.dumps(Singulars({"bus"})))
    assert kept(["buses", "bus", "glass"]) == ["bus", "bus", "glas"]


class TestLemmas:
    def test_nltk_is_an_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "nltk", None)
        with pytest.raises(MissingExtraError, match=r"captious\[nltk\]"):
            lemmas(["dogs"])

    def test_its_data_are_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> str:
            raise LookupError("no wordnet")

        install(monkeypatch, fail)
        with pytest.raises(ResourceError, match=r"nltk\.downloader"):
            lemmas([])

    def test_parts_of_speech_decide(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = []

        def lemmatize(self: object, word: str, pos: str) -> str:
            asked.append((word, pos))
            return {"seated": "seat", "buses": "bus"}.get(word, word)

        install(monkeypatch, lemmatize)
        assert lemmas(["seated", "red", "buses", "now", "."]) == ["seat", "red", "bus", "now", "."]
        assert [pos for _, pos in asked[1:]] == ["v", "a", "n", "r", "n"]


def install(monkeypatch: pytest.MonkeyPatch, lemmatize: object) -> None:
    """A stand-in for NLTK, which has a tagger of five words."""
    tags = {"seated": "VBN", "red": "JJ", "buses": "NNS", "now": "RB"}
    nltk, stem = ModuleType("nltk"), ModuleType("nltk.stem")
    nltk.pos_tag = lambda tokens: [(token, tags.get(token, ".")) for token in tokens]  # type: ignore[attr-defined]
    stem.WordNetLemmatizer = type("WordNetLemmatizer", (SimpleNamespace,), {"lemmatize": lemmatize})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nltk", nltk)
    monkeypatch.setitem(sys.modules, "nltk.stem", stem)
