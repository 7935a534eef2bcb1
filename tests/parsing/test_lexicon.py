"""Tags of words, and the spellings that words are looked up by."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from captious.parsing.lexicon import BOUNDARY, Lexicon, WordLists, american, signature
from captious.resources.grammar import ANY, Grammar
from tests.support.tables import tables

TABLES = tables(__file__)


@pytest.fixture
def small() -> Grammar:
    """Three tags: N of 200 words, V of 100, and P, which unknown words never have."""
    return Grammar(
        name="small",
        fingerprint="0",
        states=("ROOT", "V", "N", "P"),
        tags=("N", "V", "P"),
        words=("dog", "run", "of", "UNK-LCs", "color"),
        binary_rules=np.empty((0, 3), np.int32),
        binary_scores=np.empty(0, np.float32),
        unary_rules=np.empty((0, 2), np.int32),
        unary_scores=np.empty(0, np.float32),
        seen=np.array(
            [
                *([0, 0], [0, 1], [1, 1], [2, 2], [0, 4]),
                *([tag, ANY] for tag in range(3)),
                *([ANY, word] for word in (0, 1, 2, 4, ANY)),
            ],
            np.int32,
        ),
        seen_counts=np.array([150, 30, 60, 10, 20, *(200, 60, 10), *(150, 90, 10, 20, 270)], float),
        unseen=np.array([[0, 3], [1, 3], [0, ANY], [1, ANY], [2, ANY], [ANY, 3], [ANY, ANY]], np.int32),
        unseen_counts=np.array([6, 2, 60, 51, 1, 8, 112], float),
    )


def tags_of(grammar: Grammar, word: str, first: bool = False) -> dict[str, float]:
    tags = Lexicon(grammar).tags(word, first)
    assert tags.scores.dtype == np.float32
    assert np.all(np.diff(tags.states) > 0)
    return dict(zip((grammar.states[state] for state in tags.states), tags.scores.tolist(), strict=True))


def test_frequent_words_have_the_tags_they_were_seen_with(small: Grammar) -> None:
    assert tags_of(small, "dog") == {"N": np.float32(math.log((150 / 270) / (200 / 270)))}


def test_rare_words_may_have_any_tag(small: Grammar) -> None:
    expected = {
        tag: np.float32(math.log((together + 0.2 * unseen / 112) / (90 + 0.2) * (90 / 270) / (of_tag / 270)))
        for tag, together, unseen, of_tag in (("N", 30, 60, 200), ("V", 60, 51, 60), ("P", 0, 1, 10))
    }
    assert tags_of(small, "run") == pytest.approx(expected, rel=1e-6)


def test_unknown_words_have_open_tags_by_their_shape(small: Grammar) -> None:
    expected = {
        tag: np.float32(math.log((together + unseen / 112) / (8 + 1) * (1 / 270) / (of_tag / 270)))
        for tag, together, unseen, of_tag in (("N", 6, 60, 200), ("V", 2, 51, 60))
    }
    assert tags_of(small, "frisbees") == pytest.approx(expected, rel=1e-6)
    assert tags_of(small, "frisbeex").keys() == {"N", "V"}  # a shape that was never seen


def test_words_are_looked_up_in_american(small: Grammar) -> None:
    assert tags_of(small, "colour") == tags_of(small, "color")


def test_lists_number_words_by_place(small: Grammar) -> None:
    lists = WordLists.of(Lexicon(small), [["dog", "dog", "run"], [], ["run", "dog"]])
    assert lists.offsets.tolist() == [0, 3, 3, 5]
    assert lists.words.tolist() == [0, 1, 2, 3, 1]
    assert lists.tag_offsets.tolist() == [0, 1, 2, 5, 8]
    assert [len(array) for array in WordLists.of(Lexicon(small), [])] == [1, 0, 0, 0, 1]


@pytest.mark.parametrize(("word", "first", "expected"), TABLES["signatures"])
def test_unknown_word_signature_is_as_expected(word: str, first: bool, expected: str) -> None:
    assert signature(word, first) == expected


def test_official_words_of_the_boundary(official_grammar: Grammar) -> None:
    assert tags_of(official_grammar, BOUNDARY) == {".$$.": 0.0}
    assert ".$$." not in {official_grammar.states[state] for state in Lexicon(official_grammar).any_tags()}
    assert len(Lexicon(official_grammar).any_tags()) == len(official_grammar.tags) - 1


def test_spellings_are_the_official_ones(shared_data: Path) -> None:
    path = shared_data / "spice" / "spelling.tsv"
    if not path.exists():
        pytest.skip("no shared_data: spellings")
    pairs = dict(line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    assert len(pairs) == 145
    assert {word: american(word) for word in pairs} == pairs


@pytest.mark.parametrize(("british", "expected"), TABLES["spellings"])
def test_british_spellings_become_american(british: str, expected: str) -> None:
    assert american(british) == expected
