"""Languages by their codes, and the words of Thai."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from captious.errors import MissingExtraError, ParameterError, UnknownNameError
from captious.text import as_tokenizer
from captious.text.languages import BY_NAME, ENGLISH, LANGUAGES, as_language
from captious.text.stems import snowball_stems
from captious.text.tokenizers import tokenizer_names


def test_unknown_language_codes_are_refused() -> None:
    assert as_language("EN") is ENGLISH
    assert as_language("pt-BR") is as_language("pt_PT") is LANGUAGES["pt"]
    assert as_language(ENGLISH) is ENGLISH
    with pytest.raises(UnknownNameError, match="no language 'xx'"):
        as_language("xx")
    with pytest.raises(ParameterError, match="is not a language"):
        as_language(1)  # type: ignore[arg-type]


def test_missing_thai_dictionary_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pythainlp.tokenize", None)
    with pytest.raises(MissingExtraError) as caught:
        as_tokenizer("th")("หมา")
    assert "captious[languages]" in caught.value.hint


def test_every_language_has_its_tokenizer_and_stemmer() -> None:
    stemmer = pytest.importorskip("Stemmer")
    assert len(BY_NAME) == len(LANGUAGES)
    for language in LANGUAGES.values():
        assert language.tokenizer in tokenizer_names()
        assert language.has_stemmer == (language.name in stemmer.algorithms())


def test_snowball_stems_depend_on_the_language() -> None:
    pytest.importorskip("Stemmer")
    assert snowball_stems(["hunde", "läuft"], LANGUAGES["de"]) == ["hund", "lauft"]
    assert snowball_stems(["perros"], LANGUAGES["es"]) == ["perr"]
    assert snowball_stems(["dogs"]) == ["dog"]
    assert snowball_stems(["psy"], LANGUAGES["pl"]) == ["psy"]


def test_thai_words_are_separated() -> None:
    pytest.importorskip("pythainlp")
    words = as_tokenizer("th")("หมาสองตัววิ่ง และ iPhone 3 เครื่อง!")
    assert words == ["หมา", "สอง", "ตัว", "วิ่ง", "และ", "iphone", "3", "เครื่อง"]


def test_only_thai_words_stay_as_the_dictionary_cuts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for PyThaiNLP; ก and ๛ are the first and the last character of Thai."""

    def cut(text: str, *, engine: str, keep_whitespace: bool) -> list[str]:
        assert (engine, keep_whitespace) == ("newmm", False)
        return text.split("|")

    monkeypatch.setitem(sys.modules, "pythainlp.tokenize", SimpleNamespace(word_tokenize=cut))
    assert as_tokenizer("th")("หมา|iPhone 3|!|ก|๛|กX") == ["หมา", "iphone", "3", "ก", "๛", "กX"]
