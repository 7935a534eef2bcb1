"""The parser: from words to phrase structure trees, dependencies, lemmas and collapsed dependencies."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np

from captious.data.batches import batches
from captious.errors import MissingExtraError, ResourceError
from captious.native import threads, using_threads
from captious.parsing.bounds import Bounds, tuned_bounds
from captious.parsing.collapsed_dependencies import collapsed
from captious.parsing.dependencies import constituents, dependencies
from captious.parsing.lemmas import lemma
from captious.parsing.parses import Parse
from captious.parsing.span_ends import SpanEnds
from captious.parsing.tree_parser import LONGEST, TreeParser, Trees, pieces
from captious.parsing.tuning_captions import drawn_captions, sample_captions
from captious.progress import Progress
from captious.resources.arrays import Arrays
from captious.resources.compiled_files import compiled
from captious.resources.grammars import spice_grammar
from captious.resources.grammars.grammar import BUNDLED, Grammar, bundled_arrays, bundled_grammar
from captious.text import PTB_RAW

#: Grammars by the name that users ask for, the best first.
GRAMMARS = ("corenlp", BUNDLED)

#: A constituent or tag of a tree in preorder: label, number of children (0 for a tag), word ("" for a constituent).
Item = tuple[str, int, str]
#: Sentences, each as its pieces.
Batch: TypeAlias = list[list[Sequence[str]]]

A = TypeVar("A")
B = TypeVar("B")

_BATCH_COST = 750_000  # cubed words of sentences that are parsed together: half a second, which cannot be interrupted
_TOP, _NOUN = "ROOT", "NN"
_TUNED_ON = 5000  # captions
_BOUNDS_FORMAT = 3  # version of the file of bounds; increase it when their computation changes


def parser_with(grammar: str | None = None) -> CaptionParser:
    """Return the parser with a grammar, one of ``GRAMMARS``; None for the best one on this machine.

    Raises:
        MissingExtraError: the grammar is not on this machine.
        ResourceError: it is damaged.
    """
    if grammar == BUNDLED:
        return _bundled()
    official = spice_grammar.find()
    if official is not None:
        return official_parser(official)
    if grammar is not None:
        raise MissingExtraError("the official grammar of SPICE is not installed", help=spice_grammar.INSTALL)
    return _bundled()


@cache
def _bundled() -> CaptionParser:
    grammar, arrays = bundled_grammar(), bundled_arrays()
    return CaptionParser(grammar.name, TreeParser(grammar, _bounds(arrays), SpanEnds.from_arrays(arrays)))


@cache
def official_parser(official: spice_grammar.SpiceGrammar) -> CaptionParser:
    """Return the parser with the official grammar.

    Its bounds are tuned once, in about 20 seconds, and cached; if the cache is not writable, there are none.
    """
    grammar = official.grammar()
    file = official.index.with_name(f"bounds-{_BOUNDS_FORMAT}-{official.fingerprint}.index")
    bounds = None
    with suppress(ResourceError):  # the cache is not writable: parsing just takes longer
        bounds = _bounds(compiled(file, official.fingerprint, partial(_tuned, grammar)))
    return CaptionParser(official.label, TreeParser(grammar, bounds))


def _tuned(grammar: Grammar, progress: Progress) -> Arrays:
    progress.reach(0, "tuning the parser to captions (once)")
    bounds = tuned_bounds(grammar, [*sample_captions(), *drawn_captions(_TUNED_ON)])
    return {"symbols": bounds.symbols, "potentials": bounds.potentials, "common": bounds.common}


def _bounds(arrays: Arrays) -> Bounds:
    return Bounds(arrays["symbols"], arrays["potentials"], arrays["common"])


@dataclass(frozen=True)
class CaptionParser:
    """A source of parses: the parser with a grammar.

    Args:
        label: name in signatures.
        parser: the tree parser.
    """

    label: str
    parser: TreeParser = field(compare=False, repr=False)

    @property
    def stored_as(self) -> str:
        """Identifier in files of prepared references."""
        return f"grammar {self.label}"

    def parse(self, captions: Sequence[str], words: Sequence[tuple[str, ...]]) -> Iterator[Parse]:
        """Yield the parses of n captions, given their words, as they are completed."""
        return map(parse_of, self.trees(words))

    def trees(self, sentences: Sequence[tuple[str, ...]]) -> Iterator[list[Item]]:
        """Yield the tree of each non-empty sentence, in preorder.

        Sentences longer than ``LONGEST`` words are cut into pieces of at most that length, whose trees share one root.
        """
        with Progress(max(1, len(sentences))) as progress:
            cut = [_add_period(pieces(words)) for words in sentences]
            done = 0
            for batch, flat, trees in _ahead(self._parsed, [*batches(cut, _cost, _BATCH_COST)]):
                progress.reach(done, "parsing captions")
                items = _items(trees, flat)
                for sentence in batch:
                    yield _joined([next(items) for _ in sentence])
                done += len(batch)

    def _parsed(self, batch: Batch) -> tuple[Batch, list[Sequence[str]], Trees]:
        flat = [piece for sentence in batch for piece in sentence]
        return batch, flat, self.parser.trees(flat)


def _add_period(cut: list[Sequence[str]]) -> list[Sequence[str]]:
    """Return the words as CoreNLP reads them: the period of an abbreviation that ends a caption (etc.) also ends its
    sentence.
    """
    *before, words = cut
    if not words or not words[-1].endswith(".") or len(words) == LONGEST:
        return cut
    return [*before, [*words, "."]] if PTB_RAW(words[-1]) == [words[-1].lower(), "."] else cut


def parse_of(items: Sequence[Item]) -> Parse:
    """Return the parse of a caption whose phrase structure tree is known."""
    leaves = [item for item in items if not item[1]]
    words, tags = tuple(word for _, _, word in leaves), tuple(tag for tag, _, _ in leaves)
    heads, relations = dependencies(constituents(items))
    lemmas = tuple(map(lemma, words, tags))
    return Parse(words, tags, lemmas, heads, relations, collapsed(words, tags, heads, relations))


def brackets(items: Sequence[Item]) -> str:
    """Format a tree in the brackets of the Penn Treebank."""
    open_: list[int] = []  # children that constituents still lack, from the top
    parts = []
    for label, arity, word in items:
        parts.append(f"({label}" if arity else f"({label} {word})")
        if arity:
            open_.append(arity)
            continue
        while open_:
            open_[-1] -= 1
            if open_[-1]:
                break
            open_.pop()
            parts[-1] += ")"
    return " ".join(parts)


def _ahead(function: Callable[[A], B], items: Sequence[A]) -> Iterator[B]:
    """Map a function over items; with several threads, the next results are computed while one is used."""
    n_threads = min(threads(), len(items))
    if n_threads < 2:
        yield from map(function, items)
        return
    waiting: deque[Future[B]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for item in items:
                try:
                    following = pool.submit(copy_context().run, _alone, function, item)
                except RuntimeError:  # the system cannot start another thread
                    following = Future()
                    following.set_result(function(item))
                waiting.append(following)
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def _alone(function: Callable[[A], B], item: A) -> B:
    with using_threads(1):
        return function(item)


def _cost(sentence: Sequence[Sequence[str]]) -> int:
    """Return the cost of parsing the pieces of a sentence: the sum of the cubes of their lengths."""
    return sum(len(piece) ** 3 for piece in sentence)


def _joined(trees: list[list[Item]]) -> list[Item]:
    """Join the trees of the pieces of a sentence under one root."""
    if len(trees) == 1:
        return trees[0]
    label = trees[0][0][0]
    arity = sum(tree[0][1] for tree in trees)
    return [(label, arity, ""), *(item for tree in trees for item in tree[1:])]


def _items(trees: Trees, sentences: Sequence[Sequence[str]]) -> Iterator[list[Item]]:
    sizes = np.diff(trees.offsets)
    below = trees.parents + np.repeat(trees.offsets[:-1], sizes)
    arity = np.bincount(below[trees.parents >= 0], minlength=len(below)).tolist()
    labels = [trees.names[label] for label in trees.labels.tolist()]
    begins = trees.begins.tolist()
    for words, (start, end) in zip(sentences, pairwise(trees.offsets.tolist()), strict=True):
        if start == end:  # the grammar cannot derive it, whatever the tags
            yield [(_TOP, len(words), ""), *((_NOUN, 0, word) for word in words)]
            continue
        yield [(labels[i], arity[i], "" if arity[i] else words[begins[i]]) for i in range(start, end)]
