"""Porter stems as NLTK gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.text.stems import porter_stem
from captious.text.tokenizers import treebank_tokens
from tests.parity.real_captions import captions
from tests.support.tables import tables

#: One word or two for every rule, NLTK's own among them.
STEMS = tables(__file__)["stems"]


@pytest.mark.parametrize("word", STEMS)
def test_porter_stem_is_as_expected(word: str) -> None:
    assert porter_stem(word) == STEMS[word]


#: Every suffix that a step knows, and what steps before it leave; stems of measure 0 to 3, short and not, with y.
SUFFIXES = """
    s es ss sses ies ied ed eed ing y ate ates at bl iz ational tional enci anci izer bli abli alli entli eli ousli
    ization ation ator alism iveness fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness
    al ance ence er ic able ible ant ement ment ent sion tion ion ou ism iti ous ive ize e le ll lle tt
"""
BEGINNINGS = "a y b by tr sk toy oat hop fil fall hiss buzz agr fix snow play happ motor rel controll oxid sylla"
IRREGULAR = "skies innings outing canning cannings lying tying howe proceed exceed"


def test_porter_stems_of_every_suffix_equal_nltk() -> None:
    stem = pytest.importorskip("nltk.stem.porter").PorterStemmer().stem
    words = IRREGULAR.split()
    words += [beginning + suffix for beginning in BEGINNINGS.split() for suffix in ("", *SUFFIXES.split())]
    assert {word: porter_stem(word) for word in words} == {word: stem(word) for word in words}


@pytest.mark.slow
def test_porter_stems_equal_nltk(shared_data: Path) -> None:
    porter = pytest.importorskip("nltk.stem.porter").PorterStemmer()
    words = {word for text in captions(shared_data, "val2014") for word in treebank_tokens(text.lower())}
    different = {word: stem for word in words if (stem := porter.stem(word)) != porter_stem(word)}
    assert not different
