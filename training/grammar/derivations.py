"""The official derivation of each caption of a treebank, as rules and tagged words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.parsing.lexicon import american
from captious.parsing.tree_parser import TreeParser

__all__ = ["Derivations", "derive"]

_BLOCK = 2000


@dataclass(frozen=True)
class Derivations:
    """Derivations of n sentences. Rules are numbers of the official grammar's: binary ones, then unary ones.

    Args:
        words: distinct words, as they are looked up.
        sentences: per sentence its words, int32, numbers of ``words``.
        rules: per sentence the rules used, int32.
        states: per sentence the state above each word, int32.
    """

    words: tuple[str, ...]
    sentences: list[NDArray[np.int32]]
    rules: list[NDArray[np.int32]]
    states: list[NDArray[np.int32]]

    def __len__(self) -> int:
        return len(self.sentences)

    def __getitem__(self, which: slice) -> Derivations:
        return Derivations(self.words, self.sentences[which], self.rules[which], self.states[which])

    def __add__(self, other: Derivations) -> Derivations:
        """Return these, and then the others."""
        number = {word: place for place, word in enumerate(self.words)}
        places = np.array([number.setdefault(word, len(number)) for word in other.words], np.int32)
        sentences = [places[sentence] for sentence in other.sentences]
        return Derivations(
            tuple(number), self.sentences + sentences, self.rules + other.rules, self.states + other.states
        )


def derive(parser: TreeParser, captions: Sequence[Sequence[str]]) -> Derivations:
    """Parse captions; those without a derivation are left out."""
    number: dict[str, int] = {}
    derivations = Derivations((), [], [], [])
    for start in range(0, len(captions), _BLOCK):
        block = captions[start : start + _BLOCK]
        these = parser.derivations(block)
        for i, words in enumerate(block):
            nodes = slice(these.offsets[i], these.offsets[i + 1])
            rules, states = these.rules[nodes], these.states[nodes]
            if not len(rules):
                continue
            above_word = rules < 0
            derivations.sentences.append(
                np.array([number.setdefault(american(word), len(number)) for word in words], np.int32)
            )
            derivations.rules.append(rules[~above_word])
            derivations.states.append(states[above_word])
    return Derivations(tuple(number), derivations.sentences, derivations.rules, derivations.states)
