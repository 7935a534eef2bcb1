"""What training leaves out of a grammar: states that make no words."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from captious.parsing.bounds import Bounds
from captious.resources.grammar import Grammar, bundled_arrays, bundled_grammar

FILE = Path(__file__).parents[2] / "training" / "grammar" / "productive.py"


@pytest.fixture(scope="module")
def productive() -> Callable[[Grammar, Bounds], tuple[Grammar, Bounds]]:
    spec = importlib.util.spec_from_file_location("productive", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[[Grammar, Bounds], tuple[Grammar, Bounds]] = module.productive
    return found


def test_states_that_make_no_words_and_their_rules(
    productive: Callable[[Grammar, Bounds], tuple[Grammar, Bounds]],
) -> None:
    """No rule makes VP, so S makes no words either."""
    states = ("ROOT", "VP", "NP", "S", "NN", "DT", "JJ")
    root, vp, np_, s, nn, dt, jj = range(7)
    none = np.zeros((0, 2), np.int32)
    grammar = Grammar(
        *("toy", "toy", states, ("NN", "DT", "JJ"), ("a", "dog", "UNK")),
        binary_rules=np.array([(s, np_, vp), (np_, dt, nn), (np_, jj, nn)], np.int32),
        binary_scores=np.array([-1, -2, -3], np.float32),
        unary_rules=np.array([(root, s), (root, np_)], np.int32),
        unary_scores=np.array([-4, -5], np.float32),
        **{"seen": none, "seen_counts": np.zeros(0), "unseen": none, "unseen_counts": np.zeros(0)},
        lexical_rules=np.array([(dt, 0), (nn, 1), (nn, 2)], np.int32),
        lexical_scores=np.array([-6, -7, -8], np.float32),
    )
    bounds = Bounds(np.arange(7, dtype=np.int32), np.arange(7, dtype=np.float32), np.array([0, 1, 0, 0, 1], np.uint8))
    smaller, smaller_bounds = productive(grammar, bounds)
    assert (smaller.states, smaller.tags, smaller.words) == (("ROOT", "NP", "NN", "DT"), ("NN", "DT"), grammar.words)
    assert smaller.binary_rules.tolist() == [[1, 3, 2]] and smaller.binary_scores.tolist() == [-2]
    assert smaller.unary_rules.tolist() == [[0, 1]] and smaller.unary_scores.tolist() == [-5]
    assert smaller.lexical_rules.tolist() == [[3, 0], [2, 1], [2, 2]]
    assert smaller.lexical_scores.tolist() == [-6, -7, -8]
    assert smaller_bounds.symbols.tolist() == smaller_bounds.potentials.tolist() == [0, 2, 4, 5]
    assert smaller_bounds.common.tolist() == [1, 1]


def test_the_bundled_grammar_has_none(productive: Callable[[Grammar, Bounds], tuple[Grammar, Bounds]]) -> None:
    grammar, arrays = bundled_grammar(), bundled_arrays()
    bounds = Bounds(arrays["symbols"], arrays["potentials"], arrays["common"])
    smaller, _ = productive(grammar, bounds)
    assert smaller.states == grammar.states
    np.testing.assert_array_equal(smaller.binary_rules, grammar.binary_rules)
