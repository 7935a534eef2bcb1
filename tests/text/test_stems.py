"""Porter stems as NLTK gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.text.stems import porter_stem
from captious.text.tokenizers import treebank_tokens
from tests.parity.real_captions import captions

#: One word or two for every rule, NLTK's own among them.
STEMS = {
    **{"caresses": "caress", "ponies": "poni", "ties": "tie", "dies": "die", "caress": "caress", "cats": "cat"},
    **{"feed": "feed", "agreed": "agre", "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing"},
    **{"conflated": "conflat", "troubled": "troubl", "sized": "size", "hopping": "hop", "falling": "fall"},
    **{"hissing": "hiss", "fizzed": "fizz", "failing": "fail", "filing": "file", "spied": "spi", "died": "die"},
    **{"happy": "happi", "sky": "sky", "enjoy": "enjoy", "by": "by", "say": "say", "fly": "fli"},
    **{
        "relational": "relat",
        "conditional": "condit",
        "rational": "ration",
        "digitizer": "digit",
        "radically": "radic",
    },
    **{"operator": "oper", "feudalism": "feudal", "hopefulness": "hope", "sensibiliti": "sensibl", "geology": "geolog"},
    **{"triplicate": "triplic", "formative": "form", "electrical": "electr", "goodness": "good", "skies": "sky"},
    **{"revival": "reviv", "allowance": "allow", "adjustment": "adjust", "adoption": "adopt", "effective": "effect"},
    **{"probate": "probat", "rate": "rate", "cease": "ceas", "controll": "control", "roll": "roll", "dying": "die"},
    **{"outings": "outing", "is": "is", "a": "a", "": "", "news": "news", "succeed": "succeed", "bluely": "blueli"},
}


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
