"""Lemmas: every rule by a word or two, words no caption of the treebank has, and the official program's lemmas."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.parsing.lemmas import lemma
from tests.parsing.official_parses import official_parses

#: A rule a row: a tag, forms, and their lemmas.
RULES = [
    # Verbs.
    ("VBP", "is 's was has does goes lit clad", "be be be have do go light clothe"),
    ("VBP", "overtaken undid rebuilt upheld misunderstood", "overtake undo rebuild uphold misunderstand"),
    ("VBP", "walking hiking sitting adding rolling controlling", "walk hike sit add roll control"),
    ("VBP", "stuffed kissed buzzing trekking purring", "stuff kiss buzz trek purr"),
    ("VBP", "dancing closed waving gazing arguing barbecued", "dance close wave gaze argue barbecue"),
    ("VBP", "fleeing dyed dying canoed going skiing skateing", "flee dye die canoe go ski skatee"),
    ("VBP", "breathing teaching juggling curling bridged", "breathe teach juggle curl bridge"),
    ("VBP", "arranged hanging bringing walled fixing bowing", "arrange hang bring wall fix bow"),
    ("VBP", "leaning created situated quoting guiding", "lean create situate quote guide"),
    ("VBP", "opening entered visiting writing developing", "open enter visit write develop"),
    ("VBP", "hoping hopping restored honored competing", "hope hop restore honor compete"),
    ("VBP", "carried carries tried dried tied ties lying", "carry carry try dry tie tie lie"),
    ("VBP", "watches passes boxes buzzes tosses rises", "watch pass box buzz toss rise"),
    ("VBP", "needs need feed bring sled cross focus", "need need feed bring sled cross focus"),
    ("VBP", "blow-drying para-sailing 1915 s ing ed", "blow-dry para-sail 1915 be ing ed"),
    # Plurals.
    ("NNS", "dogs benches dishes glasses boxes tomatoes", "dog bench dish glass box tomato"),
    ("NNS", "horses vases buses lenses bases shoes", "horse vase bus lens basis shoe"),
    ("NNS", "ladies movies ties keys men firemen", "lady movie tie key man fireman"),
    ("NNS", "children teeth leaves gloves bookshelves", "child tooth leaf glove bookshelf"),
    ("NNS", "graffiti cacti spaghetti skis taxis", "graffitus cactus spaghetti ski taxi"),
    ("NNS", "people pants scissors octopus mattress", "people pants scissors octopus mattress"),
    ("NNS", "flip-flops high-fives 1960s d'oeuvres t.v.s", "flip-flop high-fives 1960 d'oeuvre t.v.s"),
    ("NNS", "sheep crossing i s", "sheep crossing i s"),
    # Forms that captions do not have: the rules must not be made for captions alone.
    ("VBG", "abdicating conniving fidgeting galumphing", "abdicate connive fidget galumph"),
    ("VBD", "bemoaned crocheted ratified throttled", "bemoan crochet ratify throttle"),
    ("VBZ", "besieges quenches vilifies woos", "besiege quench vilify woo"),
    ("VBN", "foreseen forsaken hewn outdone", "foresee forsake hew outdo"),
    ("NNS", "abbeys alumni apologies cockroaches viruses", "abbey alumnus apology cockroach virus"),
    # Other tags, brackets and capitals.
    ("DT", "an", "a"),
    ("MD", "wo", "will"),
    ("MD", "'d", "would"),
    ("VBD", "'d", "have"),
    ("PRP", "me", "I"),
    ("PRP$", "her", "she"),
    ("RB", "n't", "not"),
    ("NN", "sitting glasses", "sitting glasses"),
    ("JJ", "parked Red", "parked red"),
    ("POS", "'s", "'s"),
    ("NNS", "-lrb- Dogs", "-lrb-_NNS dog"),
    ("NNP", "Texas", "Texas"),
]


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
