"""An averaged structured perceptron on the scores of rules and of tagged words (Collins 2002).

Where the best derivation is not the official one, what only the official one has gains, and what only the best one has
loses. Steps of a score shrink with the changes that it has had (Duchi et al. 2011), so that rare rules learn as fast as
frequent ones. The scores that come out are the average over the steps of a pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.native import Pcfg, threads
from captious.parsing.lexicon import signature
from counts import Reduced
from derivations import Derivations

__all__ = ["Perceptron", "State"]

_LEAST = 1e-6  # the square of the changes that a score is taken to have had


@dataclass(frozen=True)
class State:
    """Scores of rules, then of tagged words, as they are between two passes.

    Args:
        scores: after the last change.
        averaged: the average over the last pass.
        squares: the sum of the squared changes of each.
    """

    scores: NDArray[np.float64]
    averaged: NDArray[np.float64]
    squares: NDArray[np.float64]


class Perceptron:
    """Trains the scores of a grammar.

    Args:
        grammar: the rules, with the scores to begin with.
        derivations: official ones, by the official numbers of rules and states.

    Attributes:
        entries: int32, by number of a word of the derivations: its number in the lexicon.
        state: the scores.
    """

    def __init__(self, grammar: Reduced, derivations: Derivations) -> None:
        self.grammar, self.derivations = grammar, derivations
        self.n_binary, self.n_rules = len(grammar.binary_rules), len(grammar.rule_scores)
        n_states = len(grammar.states)
        self._pcfg = Pcfg(
            grammar.binary_rules,
            grammar.rule_scores[: self.n_binary].astype(np.float32),
            grammar.unary_rules,
            grammar.rule_scores[self.n_binary :].astype(np.float32),
            root=grammar.root,
            boundary=-1,
            symbols=np.zeros(n_states, np.int32),
            potentials=np.zeros(n_states, np.float32),
            common=np.ones(self.n_rules, np.uint8),
        )
        scores = np.concatenate([grammar.rule_scores, grammar.lexical_scores])
        self.state = State(scores, scores, np.full_like(scores, _LEAST))
        self._starts = np.searchsorted(grammar.lexical_rules[:, 1], np.arange(len(grammar.lexicon) + 1))
        self._keys = grammar.lexical_rules[:, 1].astype(np.int64) * n_states + grammar.lexical_rules[:, 0]
        entry = {name: number for number, name in enumerate(grammar.lexicon)}
        shapes = (signature(word, False) for word in derivations.words)
        self.entries = np.array(
            [entry.get(w, entry.get(s, entry["UNK"])) for w, s in zip(derivations.words, shapes, strict=True)], np.int32
        )
        self._official = [self._features(i) for i in range(len(derivations))]

    def anneal(self) -> None:
        """Go on from the averages, with changes as large as the first ones."""
        averaged = self.state.averaged
        self.state = State(averaged, averaged, np.full_like(averaged, _LEAST))

    def train(self, sentences: NDArray[np.int64], batch: int, step: float) -> float:
        """Return the share of sentences that were misparsed during one training pass in this order.

        Afterwards, ``state.averaged`` has the average of the scores over the pass: rules, then tagged words.

        Args:
            step: the first change of a score.
        """
        wrong = 0
        scores, squares = self.state.scores.copy(), self.state.squares.copy()
        sums, steps = np.zeros_like(scores), 1.0
        for start in range(0, len(sentences), batch):
            these = sentences[start : start + batch].tolist()
            gradient = np.zeros_like(scores)
            for i, features in zip(these, self._parsed(these, scores), strict=True):
                official = self._official[i]
                if not len(features) or np.array_equal(np.sort(features), np.sort(official)):
                    continue
                wrong += 1
                np.add.at(gradient, official[official >= 0], 1.0)
                np.add.at(gradient, features, -1.0)
            changed = np.flatnonzero(gradient)
            squares[changed] += gradient[changed] ** 2
            change = step * gradient[changed] / np.sqrt(squares[changed])
            scores[changed] += change
            sums[changed] += steps * change
            steps += 1
        self.state = State(scores, scores - sums / steps, squares)
        return wrong / len(sentences)

    def agreement(self, sentences: Sequence[int], scores: NDArray[np.float64]) -> float:
        """Return the share of sentences whose best derivation is the official one."""
        parsed = self._parsed(sentences, scores)
        same = (np.array_equal(np.sort(f), np.sort(self._official[i])) for i, f in zip(sentences, parsed, strict=True))
        return sum(same) / len(sentences)

    def _parsed(self, sentences: Sequence[int], scores: NDArray[np.float64]) -> Iterator[NDArray[np.int64]]:
        """Yield the features of the best derivation of each sentence: numbers of scores, none without a derivation."""
        single = scores.astype(np.float32)
        self._pcfg.set_scores(single[: self.n_binary], single[self.n_binary : self.n_rules])
        words = [self.entries[self.derivations.sentences[i]] for i in sentences]
        used, places = np.unique(np.concatenate(words), return_inverse=True)
        tags = [np.arange(self._starts[entry], self._starts[entry + 1]) for entry in used.tolist()]
        flat = np.concatenate(tags)
        offsets = np.cumsum([0, *map(len, words)])
        ends, states, rules, begins, _, _ = self._pcfg.parse(
            np.cumsum([0, *map(len, tags)]),
            np.ascontiguousarray(self.grammar.lexical_rules[flat, 0]),
            single[self.n_rules :][flat],
            places.astype(np.int32),
            offsets,
            plainly=True,
            threads=threads(),
        )
        for i, entries in enumerate(words):
            these = slice(ends[i], ends[i + 1])
            above = rules[these] < 0
            keys = entries[begins[these][above]].astype(np.int64) * len(self.grammar.states) + states[these][above]
            lexical = self.n_rules + np.searchsorted(self._keys, keys)
            yield np.concatenate([rules[these][~above].astype(np.int64), lexical])

    def _features(self, i: int) -> NDArray[np.int64]:
        """Return the features of an official derivation; -1 for what the grammar does not have."""
        rules = self.grammar.rule_of[self.derivations.rules[i]].astype(np.int64)
        states = self.grammar.state_of[self.derivations.states[i]].astype(np.int64)
        keys = self.entries[self.derivations.sentences[i]].astype(np.int64) * len(self.grammar.states) + states
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        lexical = np.where((self._keys[places] == keys) & (states >= 0), self.n_rules + places, -1)
        return np.concatenate([rules, lexical])
