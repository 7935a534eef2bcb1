"""CoreNLP's grammar: the published file is equal to its text form, and files of other forms are refused."""

from __future__ import annotations

import gzip
import io
import math
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from captious.resources.cache import write_arrays
from captious.resources.corenlp import fingerprint_of, read_grammar
from captious.resources.grammar import ANY, Grammar
from tests.resources import text_grammar
from tests.support.java_streams import Java, stream
from tests.support.spice_grammar_files import BINARY, SEEN, STATES, TAGS, UNARY, UNSEEN, WORDS, packed


def same(one: Grammar, other: Grammar) -> bool:
    """Return whether two grammars are equal to the last bit."""
    pairs = [(getattr(one, of.name), getattr(other, of.name)) for of in fields(Grammar)]
    return all(
        (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()) if isinstance(a, np.ndarray) else a == b
        for a, b in pairs
    )


@pytest.mark.slow
def test_the_published_grammar_says_what_its_text_form_says(corenlp_grammar: Path, published_grammar: Grammar) -> None:
    expected = text_grammar.read(corenlp_grammar.with_name("grammar.txt.gz"))
    assert (len(expected.states), len(expected.tags), len(expected.words)) == (12_977, 614, 48_050)
    assert (expected.binary.total(), expected.unary.total()) == (46_091, 3_135)
    assert (expected.seen.total(), expected.unseen.total()) == (123_365, 2_180)
    actual = text_grammar.of(published_grammar)
    for part in fields(text_grammar.TextGrammar):
        assert getattr(actual, part.name) == getattr(expected, part.name), part.name
    every = (published_grammar.seen == ANY).all(axis=1)
    assert published_grammar.seen_counts[every] == pytest.approx(1_064_728.5)
    assert {*published_grammar.tags} <= {*published_grammar.states}


def test_small_grammar_is_read_completely() -> None:
    content = packed()
    grammar = read_grammar(content, "small")
    assert (grammar.name, grammar.fingerprint) == ("small", fingerprint_of(content))
    assert (grammar.states, grammar.tags, grammar.words) == (STATES, TAGS, WORDS)
    assert grammar.binary_rules.tolist() == [[*rule[:3]] for rule in BINARY]
    assert grammar.unary_rules.tolist() == [[*rule[:2]] for rule in UNARY]
    assert [*zip(map(tuple, grammar.seen.tolist()), grammar.seen_counts, strict=True)] == [*SEEN.items()]
    assert [*zip(map(tuple, grammar.unseen.tolist()), grammar.unseen_counts, strict=True)] == [*UNSEEN.items()]
    assert grammar.binary_scores.tobytes() == np.array([rule[3] for rule in BINARY], np.float32).tobytes()
    assert math.copysign(1, grammar.binary_scores[1]) == -1  # a score of -0.0 stays that
    types = {key: (array.dtype, array.ndim) for key, array in vars(grammar).items() if isinstance(array, np.ndarray)}
    assert types == {
        "binary_rules": (np.int32, 2), "binary_scores": (np.float32, 1), "unary_rules": (np.int32, 2),
        "unary_scores": (np.float32, 1), "seen": (np.int32, 2), "seen_counts": (np.float64, 1),
        "unseen": (np.int32, 2), "unseen_counts": (np.float64, 1), "lexical_rules": (np.int32, 2),
        "lexical_scores": (np.float32, 1),
    }  # fmt: skip


def test_grammar_survives_conversion_to_arrays() -> None:
    grammar = read_grammar(packed(), "small")
    arrays = grammar.arrays()
    assert all(array.ndim == 1 for array in arrays.values())
    write_arrays(io.BytesIO(), arrays, "label")
    assert same(Grammar.from_arrays(arrays, grammar.name, grammar.fingerprint), grammar)


def test_fingerprint_does_not_depend_on_compression() -> None:
    assert fingerprint_of(packed(level=1)) == fingerprint_of(packed())
    assert packed(level=1) != packed()
    assert fingerprint_of(packed({"words": (*WORDS[:3], "UNK-LC-x")})) != fingerprint_of(packed())


def test_a_name_with_a_line_break_cannot_be_kept() -> None:
    with pytest.raises(ValueError, match="line break"):
        read_grammar(packed({"words": (*WORDS[:3], "UNK\n")}), "small").arrays()


def test_a_file_that_unpacks_to_far_more_is_refused() -> None:
    with pytest.raises(ValueError, match="much larger"):
        read_grammar(gzip.compress(bytes(40_000_000), 1), "small")


def test_file_that_is_not_gzip_has_no_fingerprint() -> None:
    for content in (b"", b"PK\3\4", b"\x1f\x8b", bytes(100)):
        with pytest.raises(ValueError, match="not a gzip file"):
            fingerprint_of(content)


def test_grammar_of_other_classes_is_refused() -> None:
    # A parser without a lexicon: a later or earlier form.
    parser = Java("edu.stanford.nlp.parser.lexparser.LexicalizedParser", {"pd": None})
    with pytest.raises(ValueError, match="the format is not that of CoreNLP"):
        read_grammar(gzip.compress(stream(parser)), "small")
