"""Lemmas: every rule by a word or two, words no caption of the treebank has, and the official program's lemmas."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.parsing.lemmas import lemma
from tests.parsing.official_parses import official_parses

#: Forms of verbs, rule by rule.
VERBS = {
    **{
        "is": "be",
        "'s": "be",
        "was": "be",
        "has": "have",
        "does": "do",
        "goes": "go",
        "lit": "light",
        "clad": "clothe",
    },
    **{
        "overtaken": "overtake",
        "undid": "undo",
        "rebuilt": "rebuild",
        "upheld": "uphold",
        "misunderstood": "misunderstand",
    },
    **{
        "walking": "walk",
        "hiking": "hike",
        "sitting": "sit",
        "adding": "add",
        "rolling": "roll",
        "controlling": "control",
    },
    **{"stuffed": "stuff", "kissed": "kiss", "buzzing": "buzz", "trekking": "trek", "purring": "purr"},
    **{
        "dancing": "dance",
        "closed": "close",
        "waving": "wave",
        "gazing": "gaze",
        "arguing": "argue",
        "barbecued": "barbecue",
    },
    **{
        "fleeing": "flee",
        "dyed": "dye",
        "dying": "die",
        "canoed": "canoe",
        "going": "go",
        "skiing": "ski",
        "skateing": "skatee",
    },
    **{"breathing": "breathe", "teaching": "teach", "juggling": "juggle", "curling": "curl", "bridged": "bridge"},
    **{
        "arranged": "arrange",
        "hanging": "hang",
        "bringing": "bring",
        "walled": "wall",
        "fixing": "fix",
        "bowing": "bow",
    },
    **{"leaning": "lean", "created": "create", "situated": "situate", "quoting": "quote", "guiding": "guide"},
    **{"opening": "open", "entered": "enter", "visiting": "visit", "writing": "write", "developing": "develop"},
    **{"hoping": "hope", "hopping": "hop", "restored": "restore", "honored": "honor", "competing": "compete"},
    **{
        "carried": "carry",
        "carries": "carry",
        "tried": "try",
        "dried": "dry",
        "tied": "tie",
        "ties": "tie",
        "lying": "lie",
    },
    **{"watches": "watch", "passes": "pass", "boxes": "box", "buzzes": "buzz", "tosses": "toss", "rises": "rise"},
    **{
        "needs": "need",
        "need": "need",
        "feed": "feed",
        "bring": "bring",
        "sled": "sled",
        "cross": "cross",
        "focus": "focus",
    },
    **{
        "blow-drying": "blow-dry",
        "para-sailing": "para-sail",
        "1915": "1915",
        "": "",
        "s": "be",
        "ing": "ing",
        "ed": "ed",
    },
}

#: Plurals, rule by rule.
NOUNS = {
    **{"dogs": "dog", "benches": "bench", "dishes": "dish", "glasses": "glass", "boxes": "box", "tomatoes": "tomato"},
    **{"horses": "horse", "vases": "vase", "buses": "bus", "lenses": "lens", "bases": "basis", "shoes": "shoe"},
    **{"ladies": "lady", "movies": "movie", "ties": "tie", "keys": "key", "men": "man", "firemen": "fireman"},
    **{"children": "child", "teeth": "tooth", "leaves": "leaf", "gloves": "glove", "bookshelves": "bookshelf"},
    **{"graffiti": "graffitus", "cacti": "cactus", "spaghetti": "spaghetti", "skis": "ski", "taxis": "taxi"},
    **{"people": "people", "pants": "pants", "scissors": "scissors", "octopus": "octopus", "mattress": "mattress"},
    **{
        "flip-flops": "flip-flop",
        "high-fives": "high-fives",
        "1960s": "1960",
        "d'oeuvres": "d'oeuvre",
        "t.v.s": "t.v.s",
    },
    **{"sheep": "sheep", "crossing": "crossing", "i": "i", "s": "s", "": ""},
}

#: Forms that captions do not have: the rules must not be made for captions alone.
RARE = {
    "VBG": {"abdicating": "abdicate", "conniving": "connive", "fidgeting": "fidget", "galumphing": "galumph"},
    "VBD": {"bemoaned": "bemoan", "crocheted": "crochet", "ratified": "ratify", "throttled": "throttle"},
    "VBZ": {"besieges": "besiege", "quenches": "quench", "vilifies": "vilify", "woos": "woo"},
    "VBN": {"foreseen": "foresee", "forsaken": "forsake", "hewn": "hew", "outdone": "outdo"},
    "NNS": {
        "abbeys": "abbey",
        "alumni": "alumnus",
        "apologies": "apology",
        "cockroaches": "cockroach",
        "viruses": "virus",
    },
}


@pytest.mark.parametrize("word", VERBS)
def test_verb_lemma_is_its_base_form(word: str) -> None:
    assert lemma(word, "VBP") == VERBS[word]


@pytest.mark.parametrize("word", NOUNS)
def test_noun_lemma_is_its_singular(word: str) -> None:
    assert lemma(word, "NNS") == NOUNS[word]


@pytest.mark.parametrize("tag", RARE)
def test_rare_words_have_their_lemmas(tag: str) -> None:
    assert {word: lemma(word, tag) for word in RARE[tag]} == RARE[tag]


@pytest.mark.parametrize(
    ("word", "tag", "base"),
    [
        ("an", "DT", "a"),
        ("wo", "MD", "will"),
        ("'d", "MD", "would"),
        ("'d", "VBD", "have"),
        ("me", "PRP", "I"),
        ("her", "PRP$", "she"),
        ("n't", "RB", "not"),
        ("sitting", "NN", "sitting"),
        ("parked", "JJ", "parked"),
        ("glasses", "NN", "glasses"),
        ("'s", "POS", "'s"),
        ("-lrb-", "NNS", "-lrb-_NNS"),
        ("Dogs", "NNS", "dog"),
        ("Red", "JJ", "red"),
        ("Texas", "NNP", "Texas"),
    ],
)
def test_lemma_of_other_tags_is_as_expected(word: str, tag: str, base: str) -> None:
    assert lemma(word, tag) == base


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
