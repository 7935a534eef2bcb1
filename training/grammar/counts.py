"""A grammar of relative frequencies: what derivations are made of, counted."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from captious.parsing.lexicon import Lexicon, lexicon_of, signature
from captious.resources.grammar import Grammar
from derivations import Derivations

__all__ = ["Reduced", "category", "count"]

_OFTEN = 30  # words that occur this often have no tags but those they were seen with
_SHARE = 0.5  # of a known word's tags that go by its shape, in occurrences
_PRIOR = 2.0  # occurrences of all unknown words together that every shape is given
_MARKS = re.compile(r"(?<=.)[-=|#^~_\[].*")
_LEAST_OF_SHAPE, _LEAST_OF_WORD = 1e-4, 0.01


@dataclass(frozen=True)
class Reduced:
    """The rules that derivations have, renumbered, with scores; the boundary behind sentences is not part of them.

    Args:
        states: the official number of each state, int32[n_states], ascending.
        tags: which of them stand above words, int32, ascending.
        root: the state above all.
        binary_rules, unary_rules: as of ``Grammar``.
        rule_scores: float64, binary rules first.
        rule_of: official number of a rule -> its number here, -1 for those that are not here.
        state_of: official number of a state -> its number here, -1 for those that are not here.
        lexicon: words and shapes.
        lexical_rules: int32[l, 2]: state and number in the lexicon, sorted by the latter and then the former.
        lexical_scores: float64[l].
    """

    states: NDArray[np.int32]
    tags: NDArray[np.int32]
    root: int
    binary_rules: NDArray[np.int32]
    unary_rules: NDArray[np.int32]
    rule_scores: NDArray[np.float64]
    rule_of: NDArray[np.int32]
    state_of: NDArray[np.int32]
    lexicon: tuple[str, ...]
    lexical_rules: NDArray[np.int32]
    lexical_scores: NDArray[np.float64]


def category(state: str) -> str:
    """Return the category that a state is split from: NN of NN^NP."""
    return _MARKS.sub("", state)


def count(official: Grammar, derivations: Derivations) -> Reduced:
    """Relative frequencies of rules and tags. The rules of the root, with the boundary on the right, become unary.

    Words that the official grammar knows have scores of their own. Of all others it sees the shape alone.
    """
    root, boundary = official.states.index("ROOT"), official.states.index(".$$.")
    unary = official.unary_rules
    children = np.concatenate([official.binary_rules[:, 1:], np.stack([unary[:, 1], np.full(len(unary), -1)], axis=1)])
    children[children[:, 1] == boundary, 1] = -1
    parents = np.concatenate([official.binary_rules[:, 0], unary[:, 0]])

    uses = np.bincount(np.concatenate(derivations.rules), minlength=len(parents))
    tags, of_tags = np.unique(np.concatenate(derivations.states), return_counts=True)
    of_parents = np.bincount(parents, uses, len(official.states)) + np.bincount(tags, of_tags, len(official.states))
    is_binary = children[:, 1] >= 0
    kept = np.concatenate([np.flatnonzero((uses > 0) & is_binary), np.flatnonzero((uses > 0) & ~is_binary)])
    n_kept = int((uses[is_binary] > 0).sum())
    rule_of = np.full(len(parents), -1, np.int32)
    rule_of[kept] = np.arange(len(kept))

    binary, single = kept[:n_kept], kept[n_kept:]
    states = np.unique(np.concatenate([parents[kept], children[binary].reshape(-1), children[single, 0], tags, [root]]))
    state_of = np.full(len(official.states), -1, np.int32)
    state_of[states] = np.arange(len(states))
    lexicon, entries = _lexicon(derivations, lexicon_of(official))
    rows = sorted((number, int(state_of[state]), score) for (number, state), score in entries.items())
    return Reduced(
        states.astype(np.int32),
        np.sort(state_of[tags]),
        int(state_of[root]),
        state_of[np.column_stack([parents[binary], children[binary]])],
        state_of[np.column_stack([parents[single], children[single, 0]])],
        np.log(uses[kept] / of_parents[parents[kept]]),
        rule_of,
        state_of,
        lexicon,
        np.array([(state, number) for number, state, _ in rows], np.int32),
        np.array([score for _, _, score in rows]),
    )


def _lexicon(derivations: Derivations, official: Lexicon) -> tuple[tuple[str, ...], dict[tuple[int, int], float]]:
    """Return known words and shapes, and the score of each (number, official state): ln P(tag | word) / P(tag)."""
    pairs: Counter[tuple[int, int]] = Counter()
    for words, states in zip(derivations.sentences, derivations.states, strict=True):
        pairs.update(zip(words.tolist(), states.tolist(), strict=True))
    of_tags: Counter[int] = Counter()
    by_word: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for (word, tag), n in pairs.items():
        of_tags[tag] += n
        by_word[word][tag] = n
    total = of_tags.total()

    shapes: defaultdict[str, Counter[int]] = defaultdict(Counter)
    unknown: Counter[int] = Counter()
    known = {word: derivations.words[word] for word in by_word if official.knows(derivations.words[word])}
    for word, tags in by_word.items():
        if word not in known:
            shapes[signature(derivations.words[word], False)].update(tags)
            unknown.update(tags)
    chances = {
        shape: {
            tag: chance
            for tag in sorted(unknown)
            if (chance := (tags[tag] + _PRIOR * unknown[tag] / unknown.total()) / (tags.total() + _PRIOR))
            > _LEAST_OF_SHAPE
        }
        for shape, tags in sorted({**shapes, "UNK": Counter[int]()}.items())
    }
    of_lexicon: dict[str, dict[int, float]] = {}
    for word, name in sorted(known.items(), key=lambda item: item[1]):
        n = sum(by_word[word].values())
        entry = {tag: times / (n + _SHARE) for tag, times in by_word[word].items()}
        shape = chances.get(signature(name, False), chances["UNK"])
        if n < _OFTEN:
            for tag, chance in shape.items():
                if chance > _LEAST_OF_WORD or tag in entry:
                    entry[tag] = entry.get(tag, 0.0) + _SHARE * chance / (n + _SHARE)
        of_lexicon[name] = entry
    of_lexicon |= chances
    names = tuple(of_lexicon)
    entries = {
        (number, tag): log(chance / (of_tags[tag] / total))
        for number, name in enumerate(names)
        for tag, chance in of_lexicon[name].items()
    }
    return names, entries
