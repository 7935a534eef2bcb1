"""Parses of captions: the parser, other sources such as files and spaCy, and the annotation layers of them."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from captious.data import Captions, References, Stored, stored_key
from captious.data.tables import batches
from captious.errors import CaptionWarning, MissingExtraError, ParameterError, ResourceError, UnknownNameError
from captious.native import Pcfg, threads, using_threads
from captious.parsing.collapsed import collapsed
from captious.parsing.dependencies import constituents, dependencies
from captious.parsing.lemmas import lemma
from captious.parsing.parses import KeptParses, Parse, StoredParses, limit, parse_arrays
from captious.parsing.tree_parser import (
    EXACT,
    LONGEST,
    SHORT,
    Bounds,
    SpanEnds,
    TreeParser,
    Trees,
    drawn_captions,
    pieces,
    sample_captions,
    tuned_bounds,
)
from captious.progress import Progress, tell
from captious.resources import corenlp
from captious.resources.cache import Arrays, compiled
from captious.resources.grammar import BUNDLED, FILE, Grammar, bundled_arrays, bundled_grammar
from captious.text import PTB_RAW
from captious.text.sentences import sentences_of
from captious.text.tokenizers import Tokenizer
from captious.text.tokens import Tokens, WordLayer
from captious.words import counted, shortened

# The parser: from words to phrase structure trees, dependencies, lemmas and collapsed dependencies.

#: Grammars by the name that users ask for, the best first.
GRAMMARS = ("corenlp", BUNDLED)

#: A constituent or tag of a tree in preorder: label, number of children (0 for a tag), word ("" for a constituent).
Item = tuple[str, int, str]
#: Sentences, each as its pieces.
Batch: TypeAlias = list[list[Sequence[str]]]

A = TypeVar("A")
B = TypeVar("B")

_BATCH_COST = 750_000  # cubed words of sentences that are parsed together: half a second, which cannot be interrupted
# Estimates of the CPU time of parsers in linear time, and of a sentence of 100 words in cubic time.
_PER_WORD, _PER_SQUARE, _PER_HUNDRED, _POWER = 3e-5, 1.2e-6, 5.3, 3.8
_PATIENCE = 5.0  # seconds; shorter times are not announced
_KEPT_AT_ONCE = 2000  # parses
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
    official = corenlp.find()
    if official is not None:
        return official_parser(official)
    if grammar is not None:
        raise MissingExtraError("the official grammar of SPICE is not installed", hint=corenlp.INSTALL)
    return _bundled()


@cache
def _bundled() -> CaptionParser:
    grammar, arrays = bundled_grammar(), bundled_arrays()
    return CaptionParser(grammar.name, TreeParser(grammar, _bounds(arrays), SpanEnds.from_arrays(arrays)))


@cache
def official_parser(official: corenlp.SpiceGrammar) -> CaptionParser:
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

    @property
    def kept(self) -> KeptParses:
        """Its parses in the cache folder."""
        return KeptParses(f"{_program()} {self.label} {self.parser.grammar.fingerprint}")

    def seconds(self, sentences: Sequence[Sequence[str]]) -> float:
        """Estimate the CPU time for the parses of sentences."""
        lengths = np.fromiter(map(len, sentences), float, len(sentences))
        if self.parser.is_linear:
            return float((lengths * (_PER_WORD + _PER_SQUARE * np.minimum(lengths, LONGEST))).sum())
        hundreds = lengths / LONGEST
        return _PER_HUNDRED * float(np.where(hundreds > 1, hundreds, hundreds**_POWER).sum())

    def parse(self, captions: Sequence[str], words: Sequence[tuple[str, ...]]) -> Iterator[Parse]:
        """Yield the parses of n captions, given their words, as they are completed."""
        return map(parse_of, self.trees(words))

    def trees(self, sentences: Sequence[tuple[str, ...]]) -> Iterator[list[Item]]:
        """Yield the tree of each non-empty sentence, in preorder.

        Sentences of more than ``LONGEST`` words and runs of stray words are parsed in pieces; their trees share a root.
        """
        with Progress(max(1, len(sentences))) as progress:
            cut = [_add_period(self.parser.pieces(words)) for words in sentences]
            done = 0
            for batch, trees in _ahead(self._parsed, [*batches(cut, _cost, _BATCH_COST)]):
                progress.reach(done, "parsing captions")
                of_pieces = iter(trees)
                for sentence in batch:
                    yield _joined([next(of_pieces) for _ in sentence])
                done += len(batch)

    def _parsed(self, batch: Batch) -> tuple[Batch, Iterator[list[Item]]]:
        flat = [piece for sentence in batch for piece in sentence]
        trees = self.parser.trees(flat)
        return batch, map(self._found, flat, _items(trees, flat))

    def _found(self, words: Sequence[str], tree: list[Item]) -> list[Item]:
        """Return the tree of a sentence; if none was found, the trees of short pieces of it under one root."""
        if tree:
            return tree
        if self.parser.is_linear and len(words) > EXACT:
            cut = pieces(words, SHORT)
            return _joined([*map(self._found, cut, _items(self.parser.trees(cut), cut))])
        return [(_TOP, len(words), ""), *((_NOUN, 0, word) for word in words)]  # not derived, whatever the tags


@cache
def _program() -> str:
    """Return a checksum of everything that parses depend on besides words and grammar: this package and the kernels."""
    content = hashlib.blake2b(digest_size=16)
    kernels = sys.modules[Pcfg.__module__].__file__ or ""
    for path in (*(path for path in sorted(Path(__file__).parent.iterdir()) if path.is_file()), Path(kernels), FILE):
        content.update(path.read_bytes())
    return content.hexdigest()


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
    """Yield the nodes of each tree; none for a sentence without a tree."""
    sizes = np.diff(trees.offsets)
    below = trees.parents + np.repeat(trees.offsets[:-1], sizes)
    arity = np.bincount(below[trees.parents >= 0], minlength=len(below)).tolist()
    labels = [trees.names[label] for label in trees.labels.tolist()]
    begins = trees.begins.tolist()
    for words, (start, end) in zip(sentences, pairwise(trees.offsets.tolist()), strict=True):
        yield [(labels[i], arity[i], "" if arity[i] else words[begins[i]]) for i in range(start, end)]


# Parses of captions as an annotation layer, and their sources: a grammar, a file of parses, or spaCy.
#
# Every distinct caption is parsed once, for all metrics.


class ParseSource(Protocol):
    """A source of parses: a parser with its grammar, or a file of parses.

    Equal sources count as one. A source with an attribute ``stored_as``, text that identifies everything its parses
    depend on, allows files of prepared references to store its parses.
    """

    @property
    def label(self) -> str:
        """Name in signatures."""
        ...

    def parse(self, captions: Sequence[str], words: Sequence[tuple[str, ...]]) -> Iterable[Parse]:
        """Return the parses of n captions.

        Args:
            captions: the original captions.
            words: the words of each; never empty.
        """
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, eq=False)
class Parses:
    """Parsed captions.

    Args:
        of_captions: one per caption; equal captions share theirs. A caption without words has a parse without words.
        by_words: a caption that has these words, by the bytes of their int32 ids.
    """

    of_captions: Sequence[Parse]
    by_words: Mapping[bytes, int]


_WITHOUT_WORDS = Parse((), (), (), (), (), ())
_NO_PARSES = Parses((), {})


@dataclass(frozen=True)
class ParsedCaptions:
    """Parses of references and candidates.

    Args:
        tokenizer: the tokenizer; tokens are split at white space, as parsers do.
        source: the source of parses.
        meanwhile: called with every new parse while other captions are being parsed; not part of the key.
    """

    tokenizer: Tokenizer
    source: ParseSource
    meanwhile: Callable[[Parse], object] | None = field(default=None, compare=False, repr=False)

    @property
    def stored_as(self) -> str | None:
        return stored_key("parses-2", self.tokenizer.stored_as, getattr(self.source, "stored_as", None))

    def to_stored(self, annotation: Parses, references: References) -> Stored:
        return Stored(parse_arrays(annotation.of_captions))

    def from_stored(self, stored: Stored, references: References) -> Parses:
        parses = StoredParses(stored.arrays, len(references.texts))
        return Parses(parses, _first(_keys(references.layer(WordLayer(self.tokenizer)))))

    def of_references(self, references: References) -> Parses:
        return self._parsed(references.texts, references.layer(WordLayer(self.tokenizer)), keep=True)

    def of_candidates(self, captions: Captions, references: Parses) -> Parses:
        return self._parsed(captions.candidates, captions.layer(WordLayer(self.tokenizer))[0], references)

    def of_texts(self, captions: Sequence[str], *, keep: bool = False) -> Parses:
        """Return the parses of captions that are in no table; ``keep`` those of references for later runs."""
        return self._parsed(captions, Tokens.of(captions, self.tokenizer).split(), keep=keep)

    def _parsed(
        self, captions: Sequence[str], words: Tokens, references: Parses = _NO_PARSES, *, keep: bool = False
    ) -> Parses:
        """Parse the captions that are not among the references; both have ids in one vocabulary.

        They are parsed in the order of their words, since the parser shares work between neighbors that begin with the
        same words.
        """
        keys = _keys(words)
        first = _first(keys)
        parses = {key: references.of_captions[references.by_words[key]] for key in first if key in references.by_words}
        parses.setdefault(b"", _WITHOUT_WORDS)
        vocabulary = words.vocabulary.words()
        unparsed = sorted(
            (tuple(vocabulary[i] for i in np.frombuffer(key, np.int32).tolist()), key, row)
            for key, row in first.items()
            if key not in parses
        )
        kept = self.source.kept if keep and isinstance(self.source, CaptionParser) else None
        if kept is not None:
            found = kept.find([sentence for sentence, *_ in unparsed])
            parses |= {key: found[sentence] for sentence, key, _ in unparsed if sentence in found}
            unparsed = [item for item in unparsed if item[0] not in found]
            _announce(self.source, [sentence for sentence, *_ in unparsed])
        sentences = [sentence for sentence, *_ in unparsed]
        new = self.source.parse([captions[row] for *_, row in unparsed], sentences)
        to_keep: dict[tuple[str, ...], Parse] = {}
        for (sentence, key, _), parse in zip(unparsed, new, strict=True):
            parses[key] = to_keep[sentence] = parse
            if self.meanwhile is not None:
                self.meanwhile(parse)
            if kept is not None and len(to_keep) == _KEPT_AT_ONCE:
                kept.add(to_keep)
                to_keep = {}
        if kept is not None:
            kept.add(to_keep)
        return Parses(tuple(parses[key] for key in keys), first)


def _announce(source: ParseSource, sentences: Sequence[tuple[str, ...]]) -> None:
    """Say how long the parses of references will take, unless it is short, or they will not be kept."""
    if isinstance(source, CaptionParser) and limit() and (seconds := source.seconds(sentences)) >= _PATIENCE:
        duration = f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:,.0f} minutes"
        tell(
            f"parsing {counted(len(sentences), 'reference')} for the first time, which takes about {duration} of CPU "
            "time; later runs read the parses from the cache"
        )


def _keys(words: Tokens) -> list[bytes]:
    content = words.ids.tobytes()
    return [content[start:end] for start, end in pairwise((words.offsets * words.ids.itemsize).tolist())]


def _first(keys: Sequence[bytes]) -> dict[bytes, int]:
    """Return the first index of each key."""
    return {key: place for place, key in reversed([*enumerate(keys)])}


_SPACY = "spacy:"

#: Accepted sources of parses; see ``as_parse_source``.
AnyParser: TypeAlias = ParseSource | str | os.PathLike[str] | None


def as_parse_source(parser: AnyParser) -> ParseSource:
    """Return a source of parses.

    Args:
        parser: None for the best grammar on this machine; "corenlp" or "bundled" for one of the two; "spacy:NAME" for a
            spaCy pipeline by name or folder; or a file of parses (.jsonl, .conllu).

    Raises:
        MissingExtraError: a grammar or package that is not installed.
        ResourceError: there is no such pipeline, or it has no parser.
        UnknownNameError: neither a parser nor the name of a file.
        ParameterError: a value of any other type.
        CaptionFileError: a file that cannot be read.
    """

    if parser is None or (isinstance(parser, str) and parser in GRAMMARS):
        return parser_with(parser)
    if isinstance(parser, str) and parser.startswith(_SPACY):
        from captious.parsing.spacy_pipelines import load_parser

        return load_parser(parser.removeprefix(_SPACY))
    if isinstance(parser, str) and not Path(parser).suffix and not os.path.exists(parser):
        raise UnknownNameError(
            f"there is no parser {parser!r}",
            hint=f"use {', '.join(GRAMMARS)}, {_SPACY}NAME (hwcm only), or a file of parses, .jsonl or .conllu",
        )
    if isinstance(parser, str | os.PathLike):
        from captious.parsing.parse_files import read_parses

        return read_parses(parser)
    if isinstance(parser, type) or not (callable(getattr(parser, "parse", None)) and isinstance(parser, Hashable)):
        raise ParameterError(
            f"{shortened(parser)} is not a parser",
            hint=f"give {', '.join(map(repr, GRAMMARS))}, '{_SPACY}NAME' (hwcm only), a file of parses (.jsonl or "
            ".conllu), or an object with label and parse(captions, words)",
        )
    return parser


def approximate(label: str) -> list[CaptionWarning]:
    """Return the warning about SPICE if the bundled grammar is in the label of a source, or in a signature."""
    if not any(re.fullmatch(rf"{BUNDLED}-\d+", part) for part in re.split(r"[(),|: ]", label)):
        return []
    return [
        CaptionWarning(
            "SPICE is using the bundled approximate grammar (correlation .994 to .998 with the official scores on six "
            "sets of captions, corpus scores within .0005). For official scores, run: captious resources get "
            "spice-grammar.",
            "grammar",
            repeated=False,
        )
    ]


# Parses of captions sentence by sentence, as an annotation layer, in time linear in the number of sentences.

SentenceParses: TypeAlias = Sequence[tuple[Parse, ...]]
"""The parses of the sentences of each caption; equal sentences share theirs."""


@dataclass(frozen=True)
class ParsedSentences:
    """Parses of the sentences of references and candidates.

    Args:
        parses: the layer that parses a sentence.
    """

    parses: ParsedCaptions

    def of_references(self, references: References) -> SentenceParses:
        return self.of_texts(references.texts, keep=True)

    def of_candidates(self, captions: Captions, references: SentenceParses) -> SentenceParses:
        return self.of_texts(captions.candidates)

    def of_texts(self, captions: Sequence[str], *, keep: bool = False) -> SentenceParses:
        """Return the parses of captions that are in no table; ``keep`` those of references for later runs."""
        of_texts = {text: sentences_of(text) for text in dict.fromkeys(captions)}
        distinct = [*dict.fromkeys(sentence for sentences in of_texts.values() for sentence in sentences)]
        parses = dict(zip(distinct, self.parses.of_texts(distinct, keep=keep).of_captions, strict=True))
        of_captions = {text: tuple(parses[sentence] for sentence in sentences) for text, sentences in of_texts.items()}
        return [of_captions[text] for text in captions]
