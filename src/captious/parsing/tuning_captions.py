"""Captions for tuning bounds: samples of many kinds, written for this package, and randomly generated captions.

The latter are generated from the bundled grammar. Few of them make sense, but they are built from the same parts as
captions.
"""

from __future__ import annotations

import math
import random
from bisect import bisect
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import TypeAlias

from captious.parsing.lexicon import ANY_SHAPE
from captious.resources.grammars.grammar import bundled_grammar

_LONGEST = 20
_Choices: TypeAlias = list[tuple[list[float], list[tuple[int, ...] | str]]]
"""By state: cumulative weights, with the children or the word of each choice."""

_UNSEEN = 0.02  # the count of words that no sample caption has


def sample_captions() -> list[tuple[str, ...]]:
    """Return the samples as words."""
    lines = Path(__file__).with_name("sample_captions.txt").read_text("utf-8").splitlines()
    return [tuple(line.split()) for line in lines]


def drawn_captions(n: int, *, seed: int = 0) -> list[tuple[str, ...]]:
    """Generate sentences of up to 20 words, with the grammar's rule frequencies and the word frequencies of the
    samples.
    """
    choices = _choices()
    start = bundled_grammar().states.index("ROOT")
    random_ = random.Random(seed)
    drawn: list[tuple[str, ...]] = []
    while len(drawn) < n:
        words = _draw(choices, start, random_)
        if len(words) <= _LONGEST:
            drawn.append(words)
    return drawn


def _choices() -> _Choices:
    grammar = bundled_grammar()
    often = Counter(word for caption in sample_captions() for word in caption)
    weighted: list[list[tuple[float, tuple[int, ...] | str]]] = [[] for _ in grammar.states]
    for rules, scores in (
        (grammar.binary_rules, grammar.binary_scores),
        (grammar.unary_rules, grammar.unary_scores),
    ):
        for (parent, *children), score in zip(rules.tolist(), scores.tolist(), strict=True):
            weighted[parent].append((math.exp(score), tuple(children)))
    for (tag, number), score in zip(grammar.lexical_rules.tolist(), grammar.lexical_scores.tolist(), strict=True):
        word = grammar.words[number]
        if not word.startswith(ANY_SHAPE):
            weighted[tag].append((math.exp(score) * (often[word] + _UNSEEN), word))
    return [([*accumulate(weight for weight, _ in choices)], [choice for _, choice in choices]) for choices in weighted]


def _draw(choices: _Choices, start: int, random_: random.Random) -> tuple[str, ...]:
    """Generate the words of one derivation; only the first words of a long one."""
    words: list[str] = []
    waiting = [start]
    while waiting and len(words) <= _LONGEST:
        sums, options = choices[waiting.pop()]
        choice = options[bisect(sums, random_.random() * sums[-1], hi=len(sums) - 1)]
        if isinstance(choice, str):
            words.append(choice)
        else:
            waiting += reversed(choice)
    return tuple(words)
