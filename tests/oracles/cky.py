"""Viterbi parsing as every textbook has it: dictionaries, all spans, all splits, all rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from captious.resources.grammar import Grammar

Chart: TypeAlias = dict[tuple[int, int], dict[int, np.float32]]


def anything(state: int, begin: int, end: int) -> bool:
    return True


def viterbi_chart(
    grammar: Grammar,
    tags: list[dict[int, float]],
    allowed: Callable[[int, int, int], bool] = anything,
) -> Chart:
    """Return the best score of each state over each span, sums in the order rule, left, right, in 32 bits.

    Args:
        tags: for each word its tags' scores.
        allowed: which states may stand over which words.
    """
    binary = defaultdict(list)
    for (parent, left, right), score in zip(grammar.binary_rules.tolist(), grammar.binary_scores, strict=True):
        binary[left].append((parent, right, score))
    unary = defaultdict(list)
    for (parent, child), score in zip(grammar.unary_rules.tolist(), grammar.unary_scores, strict=True):
        unary[child].append((parent, score))
    chart: Chart = {}
    for length in range(1, len(tags) + 1):
        for begin in range(len(tags) - length + 1):
            end = begin + length
            best: dict[int, np.float32] = {}

            def offer(
                state: int, score: np.float32, best: dict[int, np.float32] = best, span: tuple[int, int] = (begin, end)
            ) -> bool:
                if score <= best.get(state, -np.inf) or not allowed(state, *span):
                    return False
                best[state] = score
                return True

            if length == 1:
                for tag, score in tags[begin].items():
                    offer(tag, np.float32(score))
            for split in range(begin + 1, end):
                right_scores = chart[split, end]
                for left, left_score in chart[begin, split].items():
                    for parent, right, score in binary[left]:
                        if right in right_scores:
                            offer(parent, score + left_score + right_scores[right])
            waiting = list(best)
            while waiting:
                child = waiting.pop()
                waiting += [parent for parent, score in unary[child] if offer(parent, score + best[child])]
            chart[begin, end] = best
    return chart


def derivation_score(
    grammar: Grammar,
    tags: list[dict[int, float]],
    nodes: list[tuple[int, int, int, int]],
) -> float:
    """Return the score of a derivation: states, rules, begins and ends in preorder, in 64 bits; check every node."""
    rest = list(reversed(nodes))
    n_binary = len(grammar.binary_rules)

    def score_below(begin: int, end: int, state: int) -> float:
        found, rule, from_, to = rest.pop()
        assert (found, from_, to) == (state, begin, end)
        if rule < 0:
            assert end == begin + 1
            return tags[begin][state]
        if rule >= n_binary:
            parent, child = grammar.unary_rules[rule - n_binary].tolist()
            assert parent == state
            return float(grammar.unary_scores[rule - n_binary]) + score_below(begin, end, child)
        parent, left, right = grammar.binary_rules[rule].tolist()
        assert parent == state
        split = rest[-1][3]
        below = score_below(begin, split, left) + score_below(split, end, right)
        return float(grammar.binary_scores[rule]) + below

    total = score_below(nodes[0][2], nodes[0][3], nodes[0][0])
    assert not rest
    return total
