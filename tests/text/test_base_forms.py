"""Singulars as the package pattern makes them, errors included, and lemmas of WordNet."""

from __future__ import annotations

import gzip
import pickle
import sys
from types import ModuleType, SimpleNamespace

import pytest

from captious.errors import MissingExtraError, ResourceError
from captious.text.stems import Singulars, lemmas, nouns, singular
from tests.support.shared_data import DATA, with_data
from tests.support.tables import tables


@pytest.mark.parametrize(("word", "expected"), tables(__file__)["singular"])
def test_singular_of_a_word_is_as_expected(word: str, expected: str) -> None:
    assert singular(word) == expected


@with_data
def test_singulars_agree_on_every_recorded_word() -> None:
    lines = gzip.decompress((DATA / "chair" / "singular.tsv.gz").read_bytes()).decode().splitlines()
    rows = [line.split("\t") for line in lines]
    assert len(rows) > 27_000
    assert [(word, singular(word)) for word, _, _ in rows] == [(word, expected) for word, expected, _ in rows]


def test_singulars_survive_pickling() -> None:
    assert Singulars()(["two", "dogs", "bus"]) == ["two", "dog", "bu"]
    kept = pickle.loads(pickle.dumps(Singulars(frozenset({"bus"}))))
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
        calls = []

        def lemmatize(self: object, word: str, pos: str) -> str:
            calls.append((word, pos))
            return {"seated": "seat", "buses": "bus"}.get(word, word)

        install(monkeypatch, lemmatize)
        assert lemmas(["seated", "red", "buses", "now", "."]) == ["seat", "red", "bus", "now", "."]
        assert [pos for _, pos in calls[1:]] == ["v", "a", "n", "r", "n"]


class TestNouns:
    def test_nouns_are_lemmas_in_order(self, monkeypatch: pytest.MonkeyPatch) -> None:
        install(monkeypatch, lambda self, word: {"buses": "bus"}.get(word, word))
        assert nouns("buses seated red buses now .") == ["bus", "bus"]
        assert nouns("now .") == []

    def test_data_are_needed_even_without_text(self, monkeypatch: pytest.MonkeyPatch) -> None:
        install(monkeypatch, lambda self, word: word)
        assert nouns("") == []
        monkeypatch.setattr(sys.modules["nltk"], "word_tokenize", missing, raising=False)
        with pytest.raises(ResourceError, match=r"nltk\.downloader punkt_tab"):
            nouns("")


def missing(text: str) -> list[str]:
    raise LookupError("no punkt_tab")


def install(monkeypatch: pytest.MonkeyPatch, lemmatize: object) -> None:
    """Install a stand-in for NLTK, which has a tagger of five words."""
    tags = {"seated": "VBN", "red": "JJ", "buses": "NNS", "now": "RB"}
    nltk, stem = ModuleType("nltk"), ModuleType("nltk.stem")
    nltk.pos_tag = lambda tokens: [(token, tags.get(token, ".")) for token in tokens]  # type: ignore[attr-defined]
    nltk.word_tokenize = str.split  # type: ignore[attr-defined]
    stem.WordNetLemmatizer = type("WordNetLemmatizer", (SimpleNamespace,), {"lemmatize": lemmatize})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nltk", nltk)
    monkeypatch.setitem(sys.modules, "nltk.stem", stem)
