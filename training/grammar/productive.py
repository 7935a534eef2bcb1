"""Leaves out of a grammar what no sentence can contain: states that make no words, and rules with such a state.

Rules that derivations hardly use are dropped after training, and some states are then made by no rule.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from captious.parsing.bounds import Bounds
from captious.resources.grammar import Grammar

__all__ = ["productive"]


def productive(grammar: Grammar, bounds: Bounds) -> tuple[Grammar, Bounds]:
    """The grammar and its bounds without states that make no words. States keep their names and their order.

    Args:
        grammar: one that has scores of tagged words.
    """
    makes = _makes_words(grammar)
    binary, unary = (makes[rules].all(axis=1) for rules in (grammar.binary_rules, grammar.unary_rules))
    number_of = np.where(makes, np.cumsum(makes) - 1, -1).astype(np.int32)
    states = tuple(compress(grammar.states, makes))
    tagged, words = grammar.lexical_rules.T
    smaller = replace(
        grammar,
        states=states,
        tags=tuple(tag for tag in grammar.tags if tag in set(states)),
        binary_rules=number_of[grammar.binary_rules[binary]],
        binary_scores=grammar.binary_scores[binary],
        unary_rules=number_of[grammar.unary_rules[unary]],
        unary_scores=grammar.unary_scores[unary],
        lexical_rules=np.column_stack([number_of[tagged], words]),
    )
    common = bounds.common[np.concatenate([binary, unary])]
    return smaller, Bounds(bounds.symbols[makes], bounds.potentials[makes], common)


def _makes_words(grammar: Grammar) -> NDArray[np.bool_]:
    """Which states make words, bool[n_states]."""
    makes = np.zeros(len(grammar.states), bool)
    makes[grammar.lexical_rules[:, 0]] = True
    before = -1
    while before < makes.sum():
        before = makes.sum()
        for rules in (grammar.binary_rules, grammar.unary_rules):
            makes[rules[makes[rules[:, 1:]].all(axis=1), 0]] = True
    return makes
