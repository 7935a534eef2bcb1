"""Detection of the language of captions."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from captious.text.languages import LANGUAGES, function_words, language_of, main_language, related
from tests.support.tables import tables

CAPTIONS = tables(__file__)["captions"]


@pytest.mark.parametrize("code", CAPTIONS)
def test_two_captions_tell_their_language_and_one_that_or_a_close_relative(code: str) -> None:
    found = [language_of(text) for text in CAPTIONS[code]]
    assert all(language and related(language, code) for language in found), found
    assert related(main_language(CAPTIONS[code]), code)


def test_words_are_of_known_languages_and_most_are_of_few() -> None:
    words = function_words()
    assert {code for codes in words.values() for code in codes} <= {*LANGUAGES}
    assert sum(len(codes) <= 3 for codes in words.values()) > 0.9 * len(words)


@pytest.mark.parametrize("text", ["", "42", "!!", "Tokyo", "xyzzy plugh"])
def test_too_little_is_no_language(text: str) -> None:
    assert language_of(text) == ""
    assert main_language([text]) == ""


@pytest.mark.parametrize("text", ["spaghetti alla carbonara", "bruschetta al pomodoro", "pain au chocolat"])
def test_one_word_of_few_is_no_verdict(text: str) -> None:
    assert language_of(text) == ""


@pytest.mark.parametrize(
    ("text", "likely", "language"),
    [
        ("In einem kleinen Bus sitzen", "de", "de"),
        ("hund laufen", "de", "de"),
        ("hund laufen", "da", "da"),
        ("a man in a red shirt", "de", "en"),
        ("un chien court", "de", "fr"),
    ],
)
def test_captions_are_in_the_likely_language_unless_another_is_clear(text: str, likely: str, language: str) -> None:
    assert language_of(text, likely) == language


def test_german_captions_are_hardly_ever_foreign_among_german_ones(shared_data: Path) -> None:
    with gzip.open(shared_data / "multi30k" / "val.1.de.gz", "rt", encoding="utf-8") as file:
        found = [language_of(line, "de") for line in file]
    assert sum(code not in ("", "de") for code in found) <= 1


def test_german_and_english_captions_of_six_words_are_told_apart(shared_data: Path) -> None:
    for code in ("de", "en"):
        with gzip.open(shared_data / "multi30k" / f"val.1.{code}.gz", "rt", encoding="utf-8") as file:
            found = [language_of(line) for line in file if len(line.split()) >= 6]
        assert found.count(code) > 0.99 * len(found)
    with gzip.open(shared_data / "coco" / "karpathy_test_refs.json.gz") as file:
        captions = [text for texts in json.load(file).values() for text in texts]
    with gzip.open(shared_data / "aloha" / "nocaps-val-foil.json.gz") as file:
        captions += [text for row in json.load(file) for text in (*row["references"], row["baseline"], row["foil"])]
    assert [text for text in captions if language_of(text) not in ("en", "")] == []
