"""A lexicon whose scores are given: of known words, and of the shapes of unknown ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.parsing.lexicon import ANY_SHAPE, Lexicon, WordTags, signature
from captious.parsing.spelling import american
from captious.resources.grammar import Grammar

__all__ = ["ScoredLexicon", "lexicon_of"]


class ScoredLexicon(Lexicon):
    """Looks up the tags of words in a grammar that has their scores."""

    def __init__(self, grammar: Grammar) -> None:
        states, words = grammar.lexical_rules.T
        order = np.lexsort((states, words))
        self._tag_states, self._given = states[order], grammar.lexical_scores[order]
        self._starts = np.searchsorted(words[order], np.arange(len(grammar.words) + 1))
        self._word_of = {word: number for number, word in enumerate(grammar.words)}

    def tags(self, word: str, first: bool = False) -> WordTags:
        known = american(word)
        number = self._word_of.get(known)
        if number is None:
            number = self._word_of.get(signature(known, first), self._word_of[ANY_SHAPE])
        these = slice(self._starts[number], self._starts[number + 1])
        return WordTags(self._tag_states[these], self._given[these])

    def any_tags(self) -> NDArray[np.int32]:
        return np.unique(self._tag_states)


def lexicon_of(grammar: Grammar) -> Lexicon:
    """The lexicon of a grammar, of either kind."""
    return ScoredLexicon(grammar) if len(grammar.lexical_scores) else Lexicon(grammar)
