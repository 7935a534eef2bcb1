"""Phrase structure trees of sentences: the most probable derivation of a state-split PCFG.

The parser of Klein and Manning (2003, "Accurate Unlexicalized Parsing") as in CoreNLP 3.6.0, with 32-bit scores summed
in its order. Trees do not depend on other sentences, on threads, or on the bounds.

It is exact, in time cubic in the length. With a grammar that has classifiers of the words that constituents begin and
end with, sentences of more than ``EXACT`` words take linear time, and a few of their trees are not the most probable
ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError
from captious.native import threads, visible_nodes
from captious.parsing.bounds import Bounds, make_pcfg
from captious.parsing.lexicon import Lexicon, WordLists, WordTags, lexicon_of
from captious.parsing.span_ends import LONGEST as LONGEST_SPAN
from captious.parsing.span_ends import SpanEnds
from captious.phrases import counted
from captious.resources.grammars.grammar import Grammar

#: Words of the longest sentence that is parsed; with the official grammar it takes 2 to 7 s and up to 700 MB.
LONGEST = 100
#: Words of the longest sentence that is always parsed exactly.
EXACT = 14

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
            words or no derivation.
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

    def trees(self, sentences: Sequence[Sequence[str]]) -> Trees:
        """Return the tree of each sentence, a list of words; an empty sentence has no nodes.

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
                    help="split it into sentences, or use captious.parsing.tree_parser.pieces",
                )
        derived = self._parsed(sentences)
        lost = [place for place in np.flatnonzero(np.isneginf(derived.scores)).tolist() if len(sentences[place]) > 0]
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
