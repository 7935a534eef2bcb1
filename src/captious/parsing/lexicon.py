"""The possible tags of a word with their scores, from the lexicon of a grammar, for known and unknown words.

Scores are ln P(word | tag) up to a term that depends on the word alone. The bundled grammar contains them; those of the
official grammar are computed from counts of tagged words, smoothed with those of rare words' shapes (Klein and Manning
2003; the constants are those of CoreNLP 3.6.0).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.files import sections
from captious.resources.grammar import ANY, Grammar

#: The word that the official grammar puts at the end of every sentence.
BOUNDARY = ".$."
#: The shape of words about which nothing is known; other shapes begin with it.
ANY_SHAPE = "UNK"

_OFTEN = 100.0  # words that occur more often have the tags they were seen with, and no smoothing
_OPEN = 50.0  # unknown words have the tags that more unknown words than these were seen with
_SMOOTH_KNOWN = 0.2
_SMOOTH_UNKNOWN = 1.0
_LOWEST = -100.0
_MOST_CACHED = 50_000


@dataclass(frozen=True, eq=False)
class WordTags:
    """Tags of a word.

    Args:
        states: int32[k], the tags' numbers among the grammar's states, ascending.
        scores: float32[k], natural logarithms.
    """

    states: NDArray[np.int32]
    scores: NDArray[np.float32]


class Lexicon:
    """Looks up the tags of words in a grammar with counts."""

    def __init__(self, grammar: Grammar) -> None:
        self._cached: dict[tuple[str, bool], WordTags] = {}
        state_of = {name: state for state, name in enumerate(grammar.states)}
        self._states = np.array([state_of[tag] for tag in grammar.tags], np.int32)
        self._word_of = {word: number for number, word in enumerate(grammar.words)}
        self._seen = _Counts(grammar.seen, grammar.seen_counts, len(grammar.tags))
        self._unseen = _Counts(grammar.unseen, grammar.unseen_counts, len(grammar.tags))
        with np.errstate(invalid="ignore", divide="ignore"):
            self._unseen_share = self._unseen.of_tags / self._unseen.total
        self._open = self._unseen.of_tags > _OPEN

    def tags(self, word: str, first: bool = False) -> WordTags:
        """Return the tags of a word; ``first`` if it begins a sentence."""
        tags = self._cached.get((word, first))
        if tags is None:
            if len(self._cached) >= _MOST_CACHED:
                self._cached.clear()
            tags = self._cached[word, first] = self._look_up(word, first)
        return tags

    def number(self, word: str, first: bool = False) -> int:
        """Return the number of a word in the grammar, or that of its shape; -1 for neither."""
        spelling = american(word)
        number = self._word_of.get(spelling)
        if number is None:
            number = self._word_of.get(signature(spelling, first), self._word_of.get(ANY_SHAPE, -1))
        return number

    def knows(self, word: str) -> bool:
        """Return whether a word was counted; for others, only the shape is known."""
        return self._seen.has(self._word_of.get(american(word), -1))

    def _look_up(self, word: str, first: bool) -> WordTags:
        spelling = american(word)
        number = self._word_of.get(spelling, -1)
        scores = self._word_scores(number) if self._seen.has(number) else self._shape_scores(signature(spelling, first))
        likely = np.flatnonzero(scores > _LOWEST)
        likely = likely[np.argsort(self._states[likely])]
        return WordTags(self._states[likely], scores[likely].astype(np.float32))

    def any_tags(self) -> NDArray[np.int32]:
        """Return every tag except that of the boundary: int32, ascending states."""
        boundary = self._seen.row(self._word_of.get(BOUNDARY, -1))[0] > 0
        return np.sort(self._states[~boundary])

    def _word_scores(self, word: int) -> NDArray[np.float64]:
        together, of_word = self._seen.row(word)
        smooth = (together + _SMOOTH_KNOWN * self._unseen_share) / (of_word + _SMOOTH_KNOWN)
        chance = np.where(together > 0, together / of_word, 0) if of_word > _OFTEN else smooth
        return self._scores(chance, of_word / self._seen.total)

    def _shape_scores(self, shape: str) -> NDArray[np.float64]:
        together, of_shape = self._unseen.row(self._word_of.get(shape, -1))
        chance = (together + _SMOOTH_UNKNOWN * self._unseen_share) / (of_shape + _SMOOTH_UNKNOWN)
        return self._scores(np.where(self._open, chance, 0), 1 / self._seen.total)

    def _scores(self, chance: NDArray[np.float64], of_word: float) -> NDArray[np.float64]:
        with np.errstate(divide="ignore", invalid="ignore"):
            scores: NDArray[np.float64] = np.log(chance * of_word / (self._seen.of_tags / self._seen.total))
        return np.where(np.isnan(scores), -np.inf, scores)


class ScoredLexicon(Lexicon):
    """Looks up the tags of words in a grammar with their scores."""

    def __init__(self, grammar: Grammar) -> None:
        states, words = grammar.lexical_rules.T
        order = np.lexsort((states, words))
        self._tag_states, self._scores_of_tags = states[order], grammar.lexical_scores[order]
        self._starts = np.searchsorted(words[order], np.arange(len(grammar.words) + 1))
        self._word_of = {word: number for number, word in enumerate(grammar.words)}

    def tags(self, word: str, first: bool = False) -> WordTags:
        number = self.number(word, first)
        entries = slice(self._starts[number], self._starts[number + 1])
        return WordTags(self._tag_states[entries], self._scores_of_tags[entries])

    def knows(self, word: str) -> bool:
        spelling = american(word)
        return spelling in self._word_of and not spelling.startswith(ANY_SHAPE)

    def any_tags(self) -> NDArray[np.int32]:
        return np.unique(self._tag_states)


def lexicon_of(grammar: Grammar) -> Lexicon:
    """Return the lexicon of a grammar of either kind."""
    return ScoredLexicon(grammar) if len(grammar.lexical_scores) else Lexicon(grammar)


class WordLists(NamedTuple):
    """Sentences and the tags of their words, as input of the kernel.

    Args:
        tag_offsets: int64[n_words + 1]: the tags of word i are those from tag_offsets[i] up to tag_offsets[i + 1].
        tag_states: int32, states.
        tag_scores: float32, natural logarithms.
        words: int32, words of all sentences.
        offsets: int64[n_sentences + 1].
    """

    tag_offsets: NDArray[np.int64]
    tag_states: NDArray[np.int32]
    tag_scores: NDArray[np.float32]
    words: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, lexicon: Lexicon, sentences: Iterable[Sequence[str]]) -> WordLists:
        """Create from sentences as lists of words."""
        numbers: tuple[dict[str, int], dict[str, int]] = ({}, {})  # word numbers: elsewhere, and at the beginning
        tags: list[WordTags] = []
        words: list[int] = []
        offsets = [0]
        for sentence in sentences:
            for place, word in enumerate(sentence):
                of_place = numbers[place == 0]
                number = of_place.get(word)
                if number is None:
                    number = of_place[word] = len(tags)
                    tags.append(lexicon.tags(word, place == 0))
                words.append(number)
            offsets.append(len(words))
        return cls(
            np.cumsum([0, *(len(word.states) for word in tags)], dtype=np.int64),
            np.concatenate([np.empty(0, np.int32), *(word.states for word in tags)]),
            np.concatenate([np.empty(0, np.float32), *(word.scores for word in tags)]),
            np.array(words, np.int32),
            np.array(offsets, np.int64),
        )


class _Counts:
    """Counts of pairs of a tag and a word, with totals, as rows by word."""

    def __init__(self, pairs: NDArray[np.int32], counts: NDArray[np.float64], n_tags: int) -> None:
        tags, words = pairs[:, 0], pairs[:, 1]
        self.total = float(counts[(tags == ANY) & (words == ANY)].sum())
        self.of_tags = np.zeros(n_tags)
        tag_totals = (tags != ANY) & (words == ANY)
        self.of_tags[tags[tag_totals]] = counts[tag_totals]
        word_totals = (tags == ANY) & (words != ANY)
        self._of_words = dict(zip(words[word_totals].tolist(), counts[word_totals].tolist(), strict=True))
        of_pairs = np.flatnonzero((tags != ANY) & (words != ANY))
        of_pairs = of_pairs[np.argsort(words[of_pairs], kind="stable")]
        self._tags, self._counts = tags[of_pairs], counts[of_pairs]
        self._starts = np.searchsorted(words[of_pairs], np.arange(int(words.max(initial=-1)) + 2))

    def has(self, word: int) -> bool:
        return bool(self._of_words.get(word, 0.0) > 0)

    def row(self, word: int) -> tuple[NDArray[np.float64], float]:
        """Return the counts of a word with each tag, float64[n_tags], and its total."""
        together = np.zeros(len(self.of_tags))
        if 0 <= word < len(self._starts) - 1:
            span = slice(self._starts[word], self._starts[word + 1])
            together[self._tags[span]] = self._counts[span]
        return together, self._of_words.get(word, 0.0)


def signature(word: str, first: bool) -> str:
    """Return the shape by which an unknown word is looked up: ``UNK-LCs`` for ``frisbees``.

    Args:
        word: the word, not empty.
        first: whether it begins a sentence.
    """
    parts = [ANY_SHAPE]
    has_lower = any(character.islower() for character in word)
    if word[0].isupper():
        parts.append("-ALLC" if not has_lower else "-INIT" if first else "-UC")
    elif has_lower:
        parts.append("-LC")
    if "-" in word:
        parts.append("-DASH")
    digits = [character.isdecimal() for character in word]
    if any(digits):
        parts.append("-NUM" if all(digits) else "-DIG")
    elif len(word) > 3:
        parts.append(word[-1].lower())
    return "".join(parts)


_SHORTEST = 6  # letters of the shortest words that patterns apply to

_TEXT = sections(Path(__file__).with_name("words.txt"))
_AMERICAN = {
    **{word: word.capitalize() for word in _TEXT["capitalised"].split()},
    **{word: word.replace("our", "or") for word in _TEXT["our"].split()},
    **{word: word.replace("is", "iz") for word in _TEXT["is"].split()},
    **dict(pair.split("/") for pair in _TEXT["other spellings"].split()),
}
_STAYS_OUR = "|".join(_TEXT["stays our"].split())
_PATTERNS = (
    (re.compile(r"haem(at)?o"), r"hem\1o"),
    (re.compile(r"aemia$"), "emia"),
    (re.compile(r"leukaem"), "leukem"),
    (re.compile(r"programme(s?)$"), r"program\1"),
    (re.compile(rf"^(?!.*(?:{_STAYS_OUR}))([a-z]{{3,}})our(s?)$"), r"\1or\2"),
)


def american(word: str) -> str:
    """Return the American spelling of a word for lookup: ``gray`` for ``grey``; most words are unchanged.

    The official lexicon was counted on American newspapers. The list is that of CoreNLP 3.6.0.
    """
    if word in _AMERICAN:
        return _AMERICAN[word]
    if len(word) < _SHORTEST:
        return word
    for pattern, spelling in _PATTERNS:
        if pattern.search(word):
            return pattern.sub(spelling, word)
    return word
