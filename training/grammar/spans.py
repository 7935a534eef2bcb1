"""Trains the classifiers of words that constituents begin and end with: logistic regression on official derivations.

Steps of a weight shrink with the changes that it has had (Duchi et al. 2011).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.parsing.tree_parser import UNIT, SpanEnds, features
from captious.resources.grammar import Grammar
from counts import Reduced, category
from derivations import Derivations

__all__ = ["likely_tags", "span_ends", "train_span_ends"]

_FEATURES = 1 << 18
_BATCH = 8192
_STEP, _LAST_STEP = 0.3, 0.02
_LEAST = 1e-3  # the square of the changes that a weight is taken to have had
_MOST = 40.0  # of a logit, for its chance


def span_ends(official: Grammar, derivations: Derivations) -> NDArray[np.bool_]:
    """Whether constituents of several words begin with each word, and whether they end with it: bool[n_words, 2]."""
    names = set(official.tags)
    tags = {state for state, name in enumerate(official.states) if name in names}
    root, boundary = official.states.index("ROOT"), official.states.index(".$$.")
    binary, unary = official.binary_rules.tolist(), official.unary_rules.tolist()
    labels = np.zeros((sum(map(len, derivations.sentences)), 2), bool)
    begin_of_sentence = 0
    for words, rules in zip(derivations.sentences, derivations.rules, strict=True):
        remaining = iter(rules.tolist())
        place = begin_of_sentence
        waiting: list[tuple[int, bool]] = [(root, True)]  # states to derive, and where constituents began that end here
        while waiting:
            what, is_state = waiting.pop()
            if not is_state:
                if place - what > 1:
                    labels[what, 0] = labels[place - 1, 1] = True
            elif what in tags:
                place += 1
            elif (rule := next(remaining)) < len(binary):
                _, left, right = binary[rule]
                waiting.append((place, False))
                if right != boundary:
                    waiting.append((right, True))
                waiting.append((left, True))
            else:
                waiting.append((unary[rule - len(binary)][1], True))
        begin_of_sentence += len(words)
    return labels


def likely_tags(official: Grammar, grammar: Reduced, derivations: Derivations) -> NDArray[np.uint8]:
    """Return the tag that each word of the lexicon most often has: uint8, by its number."""
    of_states = np.bincount(np.concatenate(derivations.states), minlength=len(official.states))[grammar.states]
    names = [category(official.states[state]) for state in grammar.states.tolist()]
    number = {name: place for place, name in enumerate(sorted({names[tag] for tag in grammar.tags.tolist()}))}
    states, words = grammar.lexical_rules.T
    chances = grammar.lexical_scores + np.log(np.maximum(of_states[states], 0.1))
    ascending = np.argsort(chances, kind="stable")
    tags = np.zeros(len(grammar.lexicon), np.uint8)
    tags[words[ascending]] = [number[names[state]] for state in states[ascending].tolist()]
    return tags


def train_span_ends(
    words: NDArray[np.int32],
    offsets: NDArray[np.int64],
    tags: NDArray[np.uint8],
    labels: NDArray[np.bool_],
    passes: int,
    rng: np.random.Generator,
) -> SpanEnds:
    """Return the classifiers.

    Args:
        words: int32, of all sentences, their numbers in the lexicon.
        offsets: int64[n + 1], where the words of each sentence begin.
        tags: uint8, by number of a word.
        labels: as of ``span_ends``.
    """
    table = np.stack([numbers.astype(np.int32) for numbers in features(words, tags, offsets, _FEATURES)], axis=1)
    weights = np.zeros((2, _FEATURES), np.float32)
    squares = np.full_like(weights, _LEAST)
    order = np.concatenate([rng.permutation(len(words)) for _ in range(passes)])
    for start in range(0, len(order), _BATCH):
        these = order[start : start + _BATCH]
        step = max(_STEP * (1 - start / len(order)), _LAST_STEP)
        flat = table[these].reshape(-1)
        for kind in range(2):
            logits = np.clip(weights[kind][table[these]].sum(axis=1), -_MOST, _MOST)
            slopes = np.repeat(1 / (1 + np.exp(-logits)) - labels[these, kind], table.shape[1]).astype(np.float32)
            np.add.at(squares[kind], flat, slopes**2)
            np.add.at(weights[kind], flat, -step * slopes / np.sqrt(squares[kind][flat]))
    return SpanEnds(np.clip(np.rint(weights.T / UNIT), -127, 127).astype(np.int8), tags)
