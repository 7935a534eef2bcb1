"""Possible first and last words of constituents, and parses of long sentences by them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from captious.parsing.lexicon import ScoredLexicon
from captious.parsing.tree_parser import (
    BEGINS,
    ENDS,
    EXACT,
    LONGEST_SPAN,
    Bounds,
    SpanEnds,
    TreeParser,
    sample_captions,
)
from captious.resources.grammar import bundled_arrays, bundled_grammar

LENGTHS = 21, 30, 60, 100


@pytest.fixture(scope="module")
def span_ends() -> SpanEnds:
    return SpanEnds.from_arrays(bundled_arrays())


@pytest.fixture(scope="module")
def parsers() -> dict[str, TreeParser]:
    grammar, arrays = bundled_grammar(), bundled_arrays()
    bounds = Bounds(arrays["symbols"], arrays["potentials"], arrays["common"])
    return {
        "exact": TreeParser(grammar, bounds),
        "linear": TreeParser(grammar, bounds, SpanEnds.from_arrays(arrays)),
    }


def long_sentences(length: int, n: int) -> list[list[str]]:
    """Return captions one after the other."""
    words = [word for caption in sample_captions() for word in (*caption, "while")]
    return [words[start : start + length] for start in range(0, n * length, length)]


def possible(span_ends: SpanEnds, sentences: list[list[str]]) -> list[NDArray[np.uint8]]:
    lexicon = ScoredLexicon(bundled_grammar())
    numbers = [lexicon.number(word) for sentence in sentences for word in sentence]
    offsets = np.cumsum([0, *map(len, sentences)])
    return np.split(span_ends.possible(np.array(numbers, np.int32), offsets), offsets[1:-1])


def test_articles_begin_constituents_and_nouns_end_them(span_ends: SpanEnds) -> None:
    (words,) = possible(span_ends, [["a", "man", "is", "riding", "a", "wave", "on", "a", "surfboard"]])
    assert [bool(word & BEGINS) for word in words] == [True, False, True, True, True, False, True, True, False]
    assert [bool(word & ENDS) for word in words] == [False, True, False, False, False, True, False, False, True]


def test_span_ends_do_not_depend_on_other_sentences(span_ends: SpanEnds) -> None:
    sentences = [[], *long_sentences(25, 4), ["dog"], [], *long_sentences(9, 3)]
    together = possible(span_ends, sentences)
    for sentence, expected in zip(sentences, together, strict=True):
        np.testing.assert_array_equal(possible(span_ends, [sentence])[0], expected)
        assert not sentence or (expected[0] & BEGINS and expected[-1] & ENDS)


def test_most_cells_stay_closed(span_ends: SpanEnds) -> None:
    for words in possible(span_ends, long_sentences(100, 5)):
        begins, ends = words & BEGINS > 0, words & ENDS > 0
        assert begins.mean() * ends.mean() < 0.5


@pytest.mark.parametrize("length", LENGTHS)
def test_long_sentences_have_trees(parsers: dict[str, TreeParser], length: int) -> None:
    sentences = long_sentences(length, 5)
    trees = parsers["linear"].trees(sentences)
    assert [int(trees.is_tag[a:b].sum()) for a, b in zip(trees.offsets, trees.offsets[1:], strict=False)] == [
        length
    ] * 5
    derived = parsers["linear"].derivations(sentences)
    long = derived.ends - derived.begins > LONGEST_SPAN
    n = len(sentences[0])
    assert ((derived.begins[long] == 0) | (derived.ends[long] >= n - 1)).all()


def test_a_wider_beam_finds_trees_that_the_first_one_misses(parsers: dict[str, TreeParser]) -> None:
    """Not all spans are tried at once: the best tree has constituents that are too long."""
    text = (
        "a large passenger airplane flying through the air an airplane that is either landing or just taking off a "
        "passenger plane taking off into the sky a bathroom with a toilet sink and shower a little bathrood decorated "
        "with many colorful objects bathroom containing a toilet a sink and a wicker basket a long empty minimal "
        "modern skylit home kitchen a narrow kitchen ending with a chrome refrigerator a room that has a stove and a "
        "icebox in it an office cubicle with four different types of computers an office with desk computer and chair "
        "and laptop a desk and"
    )
    words = text.split()
    assert len(words) == 100

    def n_long(name: str) -> int:
        derived = parsers[name].derivations([words])
        assert derived.scores[0] > -np.inf
        long = derived.ends - derived.begins > LONGEST_SPAN
        return int((long & (derived.begins > 0) & (derived.ends < len(words) - 1)).sum())

    assert (n_long("linear"), n_long("exact")) == (0, 5)


def test_most_trees_are_the_best_ones(parsers: dict[str, TreeParser]) -> None:
    sentences = [sentence for length in (22, 30, 38) for sentence in long_sentences(length, 40)]
    exact, linear = (parsers[name].derivations(sentences) for name in ("exact", "linear"))
    assert (linear.scores <= exact.scores + 1e-3).all()
    assert np.isclose(linear.scores, exact.scores, atol=1e-3).mean() > 0.7


def test_sentences_up_to_the_limit_are_exact_beside_long_ones(parsers: dict[str, TreeParser]) -> None:
    sentences = [
        sentence for pair in zip(long_sentences(EXACT, 9), long_sentences(40, 9), strict=True) for sentence in pair
    ]
    mixed, exact = parsers["linear"].derivations(sentences), parsers["exact"].derivations(sentences[::2])
    np.testing.assert_array_equal(mixed.scores[::2], exact.scores)
    for number in range(9):
        ours = slice(mixed.offsets[2 * number], mixed.offsets[2 * number + 1])
        theirs = slice(exact.offsets[number], exact.offsets[number + 1])
        np.testing.assert_array_equal(mixed.states[ours], exact.states[theirs])
