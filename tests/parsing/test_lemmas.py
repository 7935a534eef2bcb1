"""Lemmas: every rule by a word or two, words no caption of the treebank has, and the official program's lemmas."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.parsing.lemmas import lemma
from tests.parsing.official_parses import official_parses
from tests.support.tables import tables

#: A rule a row: a tag, forms, and their lemmas.
RULES = tables(__file__)["rules"]


@pytest.mark.parametrize(
    ("tag", "word", "base"),
    [
        (tag, word, base)
        for tag, forms, lemmas in RULES
        for word, base in zip(forms.split(), lemmas.split(), strict=True)
    ],
)
def test_lemma_follows_the_rule(tag: str, word: str, base: str) -> None:
    assert lemma(word, tag) == base


@pytest.mark.parametrize("tag", ["VBP", "NNS"])
def test_empty_word_has_an_empty_lemma(tag: str) -> None:
    assert lemma("", tag) == ""


@given(st.text(max_size=12), st.sampled_from(("NNS", "VBG", "NN", "PRP", "NNP", "")))
def test_any_text_has_a_lemma(word: str, tag: str) -> None:
    assert isinstance(lemma(word, tag), str)


def _agreement(file: Path, limit: int | None = None) -> float:
    """Return the share of tokens whose lemma is that of the official program."""
    right = total = 0
    for parse in official_parses(file, limit):
        ours = map(lemma, parse.words, parse.tags)
        right += sum(our == official for our, official in zip(ours, parse.lemmas, strict=True))
        total += len(parse.words)
    return right / total


def test_lemmas_agree_on_a_treebank_slice(shared_data: Path) -> None:
    assert _agreement(shared_data / "spice/treebank.jsonl.gz", 8000) >= 0.9999


@pytest.mark.slow
@pytest.mark.nightly
def test_lemmas_agree_on_the_treebank(shared_data: Path) -> None:
    assert _agreement(shared_data / "spice/treebank.jsonl.gz") >= 0.99999


@pytest.mark.slow
def test_lemmas_agree_on_gold_parses(shared_data: Path) -> None:
    assert _agreement(shared_data / "spice/gold_parses.jsonl.gz") >= 0.99995
