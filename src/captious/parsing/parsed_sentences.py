"""Parses of captions sentence by sentence, as an annotation layer, in time linear in the number of sentences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from captious.data import Captions, References
from captious.parsing.parsed_captions import ParsedCaptions
from captious.parsing.parses import Parse
from captious.text.sentences import sentences_of

SentenceParses: TypeAlias = Sequence[tuple[Parse, ...]]
"""The parses of the sentences of each caption; equal sentences share theirs."""


@dataclass(frozen=True)
class ParsedSentences:
    """Parses of the sentences of references and candidates.

    Args:
        parses: the layer that parses a sentence.
    """

    parses: ParsedCaptions

    @property
    def key(self) -> Hashable:
        return "sentences", self.parses.key

    def of_references(self, references: References) -> SentenceParses:
        return self.of_texts(references.texts)

    def of_candidates(self, captions: Captions, references: SentenceParses) -> SentenceParses:
        return self.of_texts(captions.candidates)

    def of_texts(self, captions: Sequence[str]) -> SentenceParses:
        """Return the parses of captions that are in no table."""
        of_texts = {text: sentences_of(text) for text in dict.fromkeys(captions)}
        distinct = [*dict.fromkeys(sentence for sentences in of_texts.values() for sentence in sentences)]
        parses = dict(zip(distinct, self.parses.of_texts(distinct).of_captions, strict=True))
        of_captions = {text: tuple(parses[sentence] for sentence in sentences) for text, sentences in of_texts.items()}
        return [of_captions[text] for text in captions]
