"""Parses of captions as an annotation layer, and their sources: a grammar, a file of parses, or spaCy.

Every distinct caption is parsed once, for all metrics.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np

from captious.data import Captions, KeyedByFields, References, Stored, stored_key
from captious.errors import Advice, ParameterError, UnknownNameError
from captious.parsing.parses import Parse, StoredParses, parse_arrays
from captious.resources.grammars.grammar import BUNDLED
from captious.text.tokenizers import Tokenizer
from captious.text.tokens import Tokens, WordLayer


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
class ParsedCaptions(KeyedByFields):
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
    def key(self) -> Hashable:
        return replace(self, meanwhile=None)

    @property
    def stored_as(self) -> str | None:
        return stored_key("parses-2", self.tokenizer.stored_as, getattr(self.source, "stored_as", None))

    def to_stored(self, annotation: Parses, references: References) -> Stored:
        return Stored(parse_arrays(annotation.of_captions))

    def from_stored(self, stored: Stored, references: References) -> Parses:
        parses = StoredParses(stored.arrays, len(references.texts))
        return Parses(parses, _first(_keys(references.layer(WordLayer(self.tokenizer)))))

    def of_references(self, references: References) -> Parses:
        return self._parsed(references.texts, references.layer(WordLayer(self.tokenizer)))

    def of_candidates(self, captions: Captions, references: Parses) -> Parses:
        return self._parsed(captions.candidates, captions.layer(WordLayer(self.tokenizer))[0], references)

    def of_texts(self, captions: Sequence[str]) -> Parses:
        """Return the parses of captions that are in no table."""
        return self._parsed(captions, Tokens.of(captions, self.tokenizer).split())

    def _parsed(self, captions: Sequence[str], words: Tokens, references: Parses = _NO_PARSES) -> Parses:
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
        sentences = [sentence for sentence, *_ in unparsed]
        new = self.source.parse([captions[row] for *_, row in unparsed], sentences)
        for (_, key, _), parse in zip(unparsed, new, strict=True):
            parses[key] = parse
            if self.meanwhile is not None:
                self.meanwhile(parse)
        return Parses(tuple(parses[key] for key in keys), first)


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
    from captious.parsing.caption_parser import GRAMMARS, parser_with

    if parser is None or (isinstance(parser, str) and parser in GRAMMARS):
        return parser_with(parser)
    if isinstance(parser, str) and parser.startswith(_SPACY):
        from captious.parsing.spacy_pipelines import load_parser

        return load_parser(parser.removeprefix(_SPACY))
    if isinstance(parser, str) and not Path(parser).suffix and not os.path.exists(parser):
        raise UnknownNameError(
            f"there is no parser {parser!r}",
            help=f"use {', '.join(GRAMMARS)}, {_SPACY}NAME (hwcm only), or a file of parses, .jsonl or .conllu",
        )
    if isinstance(parser, str | os.PathLike):
        from captious.parsing.parse_files import read_parses

        return read_parses(parser)
    if isinstance(parser, type) or not (callable(getattr(parser, "parse", None)) and isinstance(parser, Hashable)):
        raise ParameterError(
            f"{parser!r:.60} is not a parser",
            help=f"give {', '.join(map(repr, GRAMMARS))}, '{_SPACY}NAME' (hwcm only), a file of parses (.jsonl or "
            ".conllu), or an object with label and parse(captions, words)",
        )
    return parser


def approximate(label: str) -> list[str]:
    """Return the warning about SPICE if the bundled grammar is in the label of a source, or in a signature."""
    if not any(re.fullmatch(rf"{BUNDLED}-\d+", part) for part in re.split(r"[(),|: ]", label)):
        return []
    return [
        Advice(
            "SPICE is using the bundled approximate grammar (correlation .993 to .998 with the official scores on six "
            "sets of captions, corpus scores within .0011). For official scores, run: captious resources get "
            "spice-grammar."
        )
    ]
