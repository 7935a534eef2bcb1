"""Phrase structure trees of sentences: the most probable derivation of a state-split PCFG.

The parser of Klein and Manning (2003, "Accurate Unlexicalized Parsing") as in CoreNLP 3.6.0, with 32-bit scores summed
in its order. Trees do not depend on other sentences, on threads, or on the bounds.

It is exact, in time cubic in the length. With a grammar that has classifiers of the words that constituents begin and
end with, sentences of more than ``EXACT`` words take linear time, and a few of their trees are not the most probable
ones, or not found at all.

Captions are parsed in pieces where they are longer than ``LONGEST`` words, and where they have a run of words that
sentences do not consist of, such as ``<pad>`` or brackets: such a run would take many times as long as a sentence.
"""

from __future__ import annotations

import math
import random
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError
from captious.native import Pcfg, threads, visible_nodes
from captious.parsing.lexicon import ANY_SHAPE, BOUNDARY, Lexicon, WordLists, WordTags, lexicon_of
from captious.resources.cache import Arrays
from captious.resources.grammar import Grammar, bundled_grammar
from captious.words import counted

__all__ = ["BEGINS", "ENDS", "LONGEST_SPAN", "UNIT", "SpanEnds", "features"]


# Speed-ups of exact parsing: bounds from a coarser grammar, and the rules to try first.
#
# Trees do not depend on them. The coarser grammar has one symbol for states that occur in similar contexts; its
# potentials adjust the scores of states so that the best scores of the two grammars are close. They are derived from
# the grammar alone, and become effective once they have been tuned on sentences.

_ROOT = "ROOT"
_CATEGORY = re.compile(r"-[A-Z]+-|[^-=|#^~_\[ ]+")
_PARENT = re.compile(r"\^([A-Z$.]+)")
_KEPT = re.compile(r"-(?:VBN|VBG|VBF|VB|TO|B|R|P)\b")  # annotations that say much about the contexts of a phrase
_PASSES = 12
_ITERATIONS = 500
_SMALLEST = 1e-12


@dataclass(frozen=True, eq=False)
class Bounds:
    """A coarser grammar and a subset of common rules.

    Args:
        symbols: int32[n_states], the coarse symbol of each state.
        potentials: float32[n_states].
        common: uint8[n_rules], binary ones first: 1 for the rules to try first.
    """

    symbols: NDArray[np.int32]
    potentials: NDArray[np.float32]
    common: NDArray[np.uint8]


def tuned_bounds(grammar: Grammar, sentences: Sequence[Sequence[str]], *, passes: int = _PASSES) -> Bounds:
    """Return bounds tuned on sentences, each a list of words.

    Args:
        passes: passes over the sentences; fewer sentences need more passes. With 5,000 sentences and 12 passes (17
            seconds) the official grammar parses captions four times as fast as without bounds.
    """
    prior = Bounds(_symbols(grammar), _prior_potentials(grammar), _all_rules(grammar))
    words = WordLists.of(lexicon_of(grammar), sentences)
    tuned = make_pcfg(grammar, prior).tune(*words, passes=passes)
    bounds = Bounds(prior.symbols, tuned, prior.common)
    _, _, rules, _, _, _ = make_pcfg(grammar, bounds).parse(*words, plainly=False, threads=1)
    common = np.zeros_like(prior.common)
    common[rules[rules >= 0]] = 1
    return Bounds(bounds.symbols, bounds.potentials, common)


def make_pcfg(grammar: Grammar, bounds: Bounds | None) -> Pcfg:
    """Return the grammar for the kernel; without bounds, it parses exhaustively."""
    state_of = {name: state for state, name in enumerate(grammar.states)}
    if bounds is None:
        n = len(state_of)
        bounds = Bounds(np.zeros(n, np.int32), np.zeros(n, np.float32), _all_rules(grammar))
    return Pcfg(
        np.ascontiguousarray(grammar.binary_rules, np.int32),
        np.ascontiguousarray(grammar.binary_scores, np.float32),
        np.ascontiguousarray(grammar.unary_rules, np.int32),
        np.ascontiguousarray(grammar.unary_scores, np.float32),
        root=state_of[_ROOT],
        boundary=state_of.get(_boundary_tag(grammar), -1),
        symbols=bounds.symbols,
        potentials=bounds.potentials,
        common=bounds.common,
    )


def _boundary_tag(grammar: Grammar) -> str:
    """Return the tag of the end-of-sentence word of the official grammar; empty if this grammar has none."""
    word = grammar.words.index(BOUNDARY) if BOUNDARY in grammar.words else len(grammar.words)
    tags = grammar.seen[(grammar.seen[:, 1] == word) & (grammar.seen[:, 0] >= 0), 0]
    return grammar.tags[tags[0]] if len(tags) else ""


def _all_rules(grammar: Grammar) -> NDArray[np.uint8]:
    return np.ones(len(grammar.binary_rules) + len(grammar.unary_rules), np.uint8)


def _symbols(grammar: Grammar) -> NDArray[np.int32]:
    """Return coarse symbols: tags unchanged; phrases by category, some annotations, and the category above; states of
    binarization by the phrase that they are part of.
    """
    tags = set(grammar.tags)
    tops = _tops(grammar)
    number: dict[str, int] = {}

    def coarse(state: int) -> str:
        name = grammar.states[state]
        if name in tags:
            return name
        if name.startswith("@"):
            return "@" + "/".join(sorted({_phrase(grammar.states[top]) for top in tops[state]}))
        return _phrase(name)

    names = [coarse(state) for state in range(len(grammar.states))]
    return np.array([number.setdefault(name, len(number)) for name in names], np.int32)


def _phrase(name: str) -> str:
    category, parent = _CATEGORY.match(name), _PARENT.search(name)
    annotations = "".join(sorted(_KEPT.findall(name)))
    return (category.group() if category else name) + annotations + (parent.group() if parent else "")


def _tops(grammar: Grammar) -> list[frozenset[int]]:
    """Return, for each state of binarization, the states that it is part of."""
    above: list[set[int]] = [set() for _ in grammar.states]
    rules = [(parent, child) for parent, *children in grammar.binary_rules.tolist() for child in children]
    for parent, child in [*rules, *map(tuple, grammar.unary_rules.tolist())]:
        if grammar.states[child].startswith("@"):
            above[child].add(parent)
    tops: list[frozenset[int]] = []
    for state, name in enumerate(grammar.states):
        reached, waiting = {state}, [state]
        while waiting and name.startswith("@"):
            state = waiting.pop()
            if grammar.states[state].startswith("@"):
                waiting += above[state] - reached
                reached |= above[state]
        tops.append(frozenset(top for top in reached if not grammar.states[top].startswith("@")))
    return tops


def _prior_potentials(grammar: Grammar) -> NDArray[np.float32]:
    """Return ln of the expected frequency of a state in a tree, minus that of everything that may be below it."""
    n = len(grammar.states)
    state_of = {name: state for state, name in enumerate(grammar.states)}
    tags = np.zeros(n)
    tags[[state_of[tag] for tag in grammar.tags]] = 1
    parents, lefts, rights = grammar.binary_rules.T
    tops, bottoms = grammar.unary_rules.T
    with np.errstate(all="ignore"):
        binary, unary = np.exp(grammar.binary_scores.astype(float)), np.exp(grammar.unary_scores.astype(float))
        below = tags
        for _ in range(_ITERATIONS):
            below = (
                tags
                + np.bincount(parents, binary * below[lefts] * below[rights], n)
                + np.bincount(tops, unary * below[bottoms], n)
            )
        binary *= below[lefts] * below[rights] / below[parents]
        unary *= below[bottoms] / below[tops]
        root = np.zeros(n)
        root[state_of[_ROOT]] = 1
        expected = root
        for _ in range(_ITERATIONS):
            expected = (
                root
                + np.bincount(lefts, binary * expected[parents], n)
                + np.bincount(rights, binary * expected[parents], n)
                + np.bincount(bottoms, unary * expected[tops], n)
            )
        potentials = np.log(np.maximum(expected, _SMALLEST)) - np.log(below)
    potentials[~np.isfinite(potentials)] = 0.0  # states of no tree, and grammars whose scores are not probabilities
    return potentials.astype(np.float32)


# Words that constituents of a sentence may begin and end with, so that parsing takes linear time.
#
# Two linear classifiers use the three words before and after each word, and the most frequent tag of each of them.
# Their predictions close more than half of the cells of a chart (Roark and Hollingshead 2008, "Classifying Chart Cells
# for Quadratic Complexity Context-Free Inference"). Constituents of more than ``LONGEST`` words that touch neither end
# of the sentence are excluded as well, so that the number of cells is linear in the number of words.
# ``training/grammar`` trains the weights.

#: What a word has that constituents of several words may begin with, or end with.
BEGINS, ENDS = 1, 2
#: Words of the longest constituent that touches no end of its sentence.
LONGEST_SPAN = 30
#: Unit of the integer weights, in logits.
UNIT = 1 / 32

_LEAST = -6.0  # logit of what is not ruled out
_AROUND = 3  # words before and after that are looked at
_BEFORE, _AFTER = 0, 1  # stand for the words and tags around a sentence
_FIRST = 2  # its own are numbered from here
_MIXER = np.uint64(0xFF51AFD7ED558CCD)  # an odd number with bits of all kinds (MurmurHash3)
#: Places of words and of tags, from the word that is judged.
_TEMPLATES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    *(((place,), ()) for place in (-2, -1, 0, 1, 2)),
    *((places, ()) for places in ((-1, 0), (0, 1), (-1, 1), (1, 2), (-2, -1, 0), (-1, 0, 1), (0, 1, 2))),
    *(((), tuple(range(*ends))) for ends in ((-1, 2), (-2, 2), (-1, 3), (-2, 3), (0, 4), (-3, 1), (-3, 3), (-2, 4))),
    *(((0,), places) for places in ((1, 2), (1, 2, 3), (-2, -1))),
    ((1,), (-1, 0)),
    ((-1,), (0, 1, 2)),
)


@dataclass(frozen=True, eq=False)
class SpanEnds:
    """The classifiers.

    Args:
        weights: int8[2**k, 2], weights of hashed features for whether constituents begin and end with a word.
        tags: uint8, by number of a word in the lexicon: its most frequent tag.
    """

    weights: NDArray[np.int8]
    tags: NDArray[np.uint8]

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> SpanEnds:
        """Restore the classifiers from ``arrays``."""
        return cls(arrays["span_weights"].view(np.int8).reshape(-1, 2), arrays["span_tags"])

    def arrays(self) -> Arrays:
        """Return both as one-dimensional arrays."""
        return {"span_weights": self.weights.reshape(-1).view(np.uint8), "span_tags": self.tags}

    def possible(self, words: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return for each word the sum of ``BEGINS`` and ``ENDS`` that are not ruled out.

        Args:
            words: int32, words of all sentences, as numbers in the lexicon.
            offsets: int64[n + 1], the boundaries of the n sentences.
        """
        logits = np.zeros((len(words), 2), np.int32)
        for numbers in features(words, self.tags, offsets, len(self.weights)):
            logits += self.weights[numbers]
        possible = logits > _LEAST / UNIT
        filled = offsets[:-1] < offsets[1:]
        possible[offsets[:-1][filled], 0] = True
        possible[offsets[1:][filled] - 1, 1] = True
        return (possible @ np.array([BEGINS, ENDS], np.uint8)).astype(np.uint8)


def features(
    words: NDArray[np.int32], tags: NDArray[np.uint8], offsets: NDArray[np.int64], n_features: int
) -> Iterator[NDArray[np.int64]]:
    """Return the hashed features of each word, one array int64[n_words] per template.

    Args:
        words, offsets: as for ``SpanEnds.possible``.
        tags: by number of a word.
        n_features: a power of two.
    """
    lengths = np.diff(offsets)
    places = np.arange(len(words)) + _AROUND * (2 * np.repeat(np.arange(len(lengths)), lengths) + 1)
    starts = offsets[:-1] + 2 * _AROUND * np.arange(len(lengths))
    padded = np.full((2, len(words) + 2 * _AROUND * len(lengths)), _AFTER, np.uint64)
    padded[:, (starts[:, None] + np.arange(_AROUND)).reshape(-1)] = _BEFORE
    padded[0, places] = words + _FIRST
    padded[1, places] = tags[words] + np.uint8(_FIRST)
    for number, template in enumerate(_TEMPLATES):
        hashes = np.full(len(words), number + 1, np.uint64)
        for values, around in zip(padded, template, strict=True):
            for place in around:
                hashes = (hashes ^ values[places + place]) * _MIXER
                hashes ^= hashes >> np.uint64(32)
        yield ((hashes >> np.uint64(7)) % np.uint64(n_features)).astype(np.int64)


#: Words of the longest sentence that is parsed; with the official grammar it takes 2 to 7 s and up to 700 MB.
LONGEST = 100
# ``TreeParser``, and the trees that it returns.

#: Words of the longest sentence that is always parsed exactly.
EXACT = 14
#: Words of the pieces into which runs of stray words are cut, and long sentences without a tree in linear time.
SHORT = 5

_LONGEST_WHOLE = 40  # words of the longest caption that a parser in cubic time reads as a sentence whatever its words
_RUN, _SOLID_RUN = 13, 8  # stray words of a run that is parsed apart, with other words between and without
_MOST_CACHED = 100_000  # words
_BRACKETS = frozenset(("-lrb-", "-rrb-", "-lsb-", "-rsb-", "-lcb-", "-rcb-"))
_ENDS = frozenset((".", "!", "?", ";", ":", ","))
_LAST_RESORT = -1000.0
_FUNCTION_MARKS = "-=|#^~_["
_TEMPORAL = "-TMP"
_NODE_ARRAYS = ("states", "rules", "begins", "ends")  # the arrays of derivations that have an entry per node


@dataclass(frozen=True, eq=False)
class Derivations:
    """Derivations of n sentences by the grammar, with nodes in preorder.

    Args:
        offsets: int64[n + 1]; the nodes of sentence i are those from offsets[i] up to offsets[i + 1]: none if it has no
            words or no derivation was found.
        states: int32, the state of each node.
        rules: int32, the rule that derives a node's children: a binary rule's number, or that of a unary rule plus the
            number of binary rules; -1 above a word. The boundary, the right child of a rule of the root, is not a node.
        begins: int32, the first word below.
        ends: int32, one past the last word below.
        scores: float32[n], natural logarithms of the probability of sentence and tree; -inf without a derivation.
    """

    offsets: NDArray[np.int64]
    states: NDArray[np.int32]
    rules: NDArray[np.int32]
    begins: NDArray[np.int32]
    ends: NDArray[np.int32]
    scores: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees of n sentences, their nodes in preorder.

    Args:
        names: names of labels.
        offsets: int64[n + 1], as in ``Derivations``.
        labels: int32, indices into names: categories, and above each word its tag.
        parents: int32, the parent node, counted within the tree; -1 for the root.
        begins: int32, the first word below.
        ends: int32, one past the last word below.
        is_tag: bool, whether a node is a tag above a word.
    """

    names: tuple[str, ...]
    offsets: NDArray[np.int64]
    labels: NDArray[np.int32]
    parents: NDArray[np.int32]
    begins: NDArray[np.int32]
    ends: NDArray[np.int32]
    is_tag: NDArray[np.bool_]


class TreeParser:
    """Parser with one grammar.

    Args:
        bounds: bounds for fast parsing; without them, parsing is exhaustive.
        span_ends: classifiers that make parsing linear for long sentences; for grammars whose lexicon has scores.
    """

    def __init__(self, grammar: Grammar, bounds: Bounds | None = None, span_ends: SpanEnds | None = None) -> None:
        self.grammar = grammar
        self._bounds, self._span_ends = bounds, span_ends
        self._lexicon = lexicon_of(grammar)
        self._stray: dict[str, bool] = {}
        self._pcfg = make_pcfg(grammar, bounds)
        tags = set(grammar.tags)
        labels = [_label(state, state in tags) for state in grammar.states]
        self._names = tuple(dict.fromkeys(label for label in labels if label))
        number = {name: place for place, name in enumerate(self._names)}
        self._labels = np.array([number.get(label, -1) for label in labels], np.int32)

    def __reduce__(self) -> tuple[object, ...]:
        return TreeParser, (self.grammar, self._bounds, self._span_ends)

    @property
    def is_linear(self) -> bool:
        """Whether the time for long sentences is linear instead of cubic in their length."""
        return self._span_ends is not None

    @property
    def work(self) -> int:
        """How many blocks of rules all parsing looked at so far: a measure of time that is the same everywhere."""
        return self._pcfg.work

    def pieces(self, words: Sequence[str]) -> list[Sequence[str]]:
        """Split a caption into the sentences that are parsed: itself, except for long captions and runs of stray words.

        Stray words are not in the lexicon, have no letters, or repeat one of the two words before. A run is 8 of them
        on end, or 13 with at most one other word between two of them. It is cut into pieces of ``SHORT`` words, in
        captions of more than ``EXACT`` words (in cubic time: 40).
        """
        cut: list[Sequence[str]] = []
        done = 0
        for begin, end in self.runs(words):
            if done < begin:
                cut += pieces(words[done:begin])
            cut += [words[place : min(place + SHORT, end)] for place in range(begin, end, SHORT)]
            done = end
        return [*cut, *pieces(words[done:])] if done < len(words) or not cut else cut

    def runs(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Return the runs of stray words of a caption, each as its first place and the place after its last."""
        if len(words) <= (EXACT if self.is_linear else _LONGEST_WHOLE):
            return []
        strays = [i for i, word in enumerate(words) if word in words[max(0, i - 2) : i] or self._is_stray(word)]
        wide, solid = _runs(strays, 2, _RUN), _runs(strays, 1, _SOLID_RUN)
        return sorted({*wide, *(run for run in solid if not any(begin <= run[0] < end for begin, end in wide))})

    def _is_stray(self, word: str) -> bool:
        stray = self._stray.get(word)
        if stray is None:
            if len(self._stray) >= _MOST_CACHED:
                self._stray.clear()
            has_letters = word not in _BRACKETS and any(map(str.isalpha, word))
            stray = self._stray[word] = not (has_letters and self._lexicon.knows(word))
        return stray

    def trees(self, sentences: Sequence[Sequence[str]]) -> Trees:
        """Return the tree of each sentence, a list of words.

        An empty sentence has no nodes, nor has one of more than ``EXACT`` words without a tree in linear time.

        Raises:
            ParameterError: a sentence of more than ``LONGEST`` words; split it by ``pieces``.
        """
        derived = self.derivations(sentences)
        nodes = visible_nodes(derived.offsets, derived.states, derived.begins, derived.ends, self._labels)
        is_tag = (derived.rules < 0)[self._labels[derived.states] >= 0]
        return Trees(self._names, *nodes, is_tag)

    def derivations(self, sentences: Sequence[Sequence[str]]) -> Derivations:
        """Return the derivation of each sentence. Raises as ``trees`` does."""
        for sentence in sentences:
            if len(sentence) > LONGEST:
                raise ParameterError(
                    f"a sentence of {counted(len(sentence), 'word')} is too long; the limit is {LONGEST}",
                    where=" ".join(sentence[:12]) + " ...",
                    hint="split it into sentences, or use captious.parsing.tree_parser.pieces",
                )
        derived = self._parsed(sentences)
        longest = EXACT if self.is_linear else LONGEST
        missing = np.flatnonzero(np.isneginf(derived.scores)).tolist()
        lost = [place for place in missing if 0 < len(sentences[place]) <= longest]
        if not lost:
            return derived
        again = self._parse(_AnyTags(self._lexicon), [sentences[place] for place in lost])
        return _replaced(derived, np.array(lost), again)

    def _parsed(self, sentences: Sequence[Sequence[str]]) -> Derivations:
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        long = np.flatnonzero(lengths > EXACT)
        if self._span_ends is None or not len(long):
            return self._parse(self._lexicon, sentences)
        short = [() if len(sentence) > EXACT else sentence for sentence in sentences]
        linear = self._parse_spans(self._span_ends, [sentences[place] for place in long.tolist()])
        return _replaced(self._parse(self._lexicon, short), long, linear)

    def _parse_spans(self, span_ends: SpanEnds, sentences: Sequence[Sequence[str]]) -> Derivations:
        words = WordLists.of(self._lexicon, sentences)
        numbers = [self._lexicon.number(word, not at) for sentence in sentences for at, word in enumerate(sentence)]
        may = span_ends.possible(np.array(numbers, np.int32), words.offsets)
        return Derivations(*self._pcfg.parse_spans(*words, may=may, longest=LONGEST_SPAN, threads=threads()))

    def _parse(self, lexicon: Lexicon, sentences: Sequence[Sequence[str]]) -> Derivations:
        words = WordLists.of(lexicon, sentences)
        return Derivations(*self._pcfg.parse(*words, plainly=self._bounds is None, threads=threads()))


def pieces(words: Sequence[str], longest: int = LONGEST) -> list[Sequence[str]]:
    """Split words into pieces that can be parsed: after the last punctuation mark that fits, if there is one."""
    cut: list[Sequence[str]] = []
    begin = 0
    while len(words) - begin > longest:
        ends = (end for end in range(begin + longest, begin, -1) if words[end - 1] in _ENDS)
        end = next(ends, begin + longest)
        cut.append(words[begin:end])
        begin = end
    return [*cut, words[begin:]]


def _runs(places: Sequence[int], step: int, least: int) -> list[tuple[int, int]]:
    """Return runs of at least so many places with at most this step between them: the first and the end of each."""
    ends = [i for i in range(1, len(places)) if places[i] - places[i - 1] > step]
    bounds = pairwise([0, *ends, len(places)])
    return [(places[first], places[end - 1] + 1) for first, end in bounds if end - first >= least]


class _AnyTags(Lexicon):
    """The last resort: every word may have every tag, with very low scores for those not in the lexicon."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def tags(self, word: str, first: bool = False) -> WordTags:
        usual = self._lexicon.tags(word, first)
        states = self._lexicon.any_tags()
        scores = np.full(len(states), _LAST_RESORT, np.float32)
        scores[np.searchsorted(states, usual.states)] = usual.scores
        return WordTags(states, scores)


def _label(state: str, is_tag: bool) -> str:
    """Return the label of a state in trees: its category, with its temporal mark for phrases; none for binarization."""
    if "@" in state:
        return ""
    if state.startswith("-"):  # -LRB-, perhaps with what it is split by
        return state[: state.find("-", 1) + 1] or state
    end = min((place for place in (state.find(mark, 1) for mark in _FUNCTION_MARKS) if place > 0), default=len(state))
    return state[:end] + (_TEMPORAL if _TEMPORAL in state and not is_tag else "")


def _replaced(derived: Derivations, places: NDArray[np.int64], replacements: Derivations) -> Derivations:
    """Return derivations with missing ones of some sentences filled in."""
    sizes = np.diff(derived.offsets)
    sizes[places] = np.diff(replacements.offsets)
    starts = np.repeat(derived.offsets[places], np.diff(replacements.offsets))
    scores = derived.scores.copy()
    scores[places] = replacements.scores
    arrays = {name: np.insert(getattr(derived, name), starts, getattr(replacements, name)) for name in _NODE_ARRAYS}
    return Derivations(np.concatenate(([0], np.cumsum(sizes))), **arrays, scores=scores)


# Captions for tuning bounds: samples of many kinds, written for this package, and randomly generated captions.
#
# The latter are generated from the bundled grammar. Few of them make sense, but they are built from the same parts as
# captions.

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
