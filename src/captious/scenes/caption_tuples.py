"""Tuples of captions, computed once for each distinct parse, while other captions are being parsed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from captious.data import Captions, KeyedByFields, References
from captious.errors import ParameterError, setting
from captious.parsing.parsed_captions import ParsedCaptions, ParseSource
from captious.parsing.parsed_sentences import ParsedSentences
from captious.parsing.parses import Parse
from captious.scenes.tuples import Tuple, tuples_of
from captious.text.tokenizers import Tokenizer

#: The ways to split captions before they are parsed.
SPLITS = ("none", "sentences")


@dataclass(frozen=True)
class TupleLayer(KeyedByFields):
    """The tuples of references and candidates, in order; equal captions share one object.

    Args:
        tokenizer: the tokenizer.
        source: the source of parses.
        split: one of ``SPLITS``; with "sentences", the tuples of a caption are those of its sentences, concatenated.
    """

    tokenizer: Tokenizer
    source: ParseSource
    split: str = "none"

    @property
    def parses(self) -> ParsedCaptions:
        """The layer of parses below; with ``split``, of sentences."""
        return ParsedCaptions(self.tokenizer, self.source)

    def of_references(self, references: References) -> list[tuple[Tuple, ...]]:
        tuples = _Tuples()
        if self.split == "sentences":
            return tuples.of_sentences(references.layer(ParsedSentences(tuples.meanwhile(self.parses))))
        return tuples.of_parses(references.layer(tuples.meanwhile(self.parses)).of_captions)

    def of_candidates(self, captions: Captions, references: object = None) -> list[tuple[Tuple, ...]]:
        tuples = _Tuples()
        if self.split == "sentences":
            return tuples.of_sentences(captions.layer(ParsedSentences(tuples.meanwhile(self.parses)))[0])
        return tuples.of_parses(captions.layer(tuples.meanwhile(self.parses))[0].of_captions)

    def of_texts(self, captions: Sequence[str]) -> list[tuple[Tuple, ...]]:
        """Return the tuples of captions that are in no table."""
        tuples = _Tuples()
        parses = tuples.meanwhile(self.parses)
        if self.split == "sentences":
            return tuples.of_sentences(ParsedSentences(parses).of_texts(captions))
        return tuples.of_parses(parses.of_texts(captions).of_captions)


@dataclass
class _Tuples:
    """Tuples by the identity of their source: a parse, or the parses of the sentences of a caption."""

    by_id: dict[int, tuple[Tuple, ...]] = field(default_factory=dict)

    def meanwhile(self, parses: ParsedCaptions) -> ParsedCaptions:
        """Return the parse layer, with tuples computed while other captions are being parsed."""
        return replace(parses, meanwhile=self.of_parse)

    def of_parses(self, parses: Iterable[Parse]) -> list[tuple[Tuple, ...]]:
        return [self.of_parse(parse) for parse in parses]

    def of_sentences(self, captions: Iterable[tuple[Parse, ...]]) -> list[tuple[Tuple, ...]]:
        tuples = []
        for sentences in captions:
            if id(sentences) not in self.by_id:
                self.by_id[id(sentences)] = tuple(chain.from_iterable(map(self.of_parse, sentences)))
            tuples.append(self.by_id[id(sentences)])
        return tuples

    def of_parse(self, parse: Parse) -> tuple[Tuple, ...]:
        """Return the tuples of a sentence, cached.

        Raises:
            ParameterError: a parse without collapsed dependencies.
        """
        tuples = self.by_id.get(id(parse))
        if tuples is None:
            if parse.words and not parse.collapsed:
                raise ParameterError(
                    "a scene graph needs collapsed dependencies, which this parse does not have",
                    where=" ".join(parse.words),
                    help=f"spaCy pipelines do not produce them: use {setting('parser', 'corenlp')} or bundled, or a "
                    "file of parses",
                )
            tuples = self.by_id[id(parse)] = tuples_of(parse)
        return tuples
