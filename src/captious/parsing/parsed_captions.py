"""Parses of captions as an annotation layer: every distinct caption is parsed once, for all metrics that ask."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from captious.data import Captions, KeyedByFields, References, Stored, stored_key
from captious.parsing.parse import Parse
from captious.parsing.stored_parses import KnownParses, ParsesOfRows, StoredParses, parse_arrays
from captious.text.tokenizers import Tokenizer
from captious.text.tokens import Tokens, WordLayer

__all__ = ["ParseSource", "ParsedCaptions", "Parses"]

_NOTHING = Parse((), (), (), (), (), ())


class ParseSource(Protocol):
    """Where parses come from: a parser with its grammar, or a file of parses made elsewhere.

    Equal sources count as one. A source with an attribute ``stored_as``, text that says all that its parses depend on,
    allows files of prepared references to keep its parses.
    """

    @property
    def label(self) -> str:
        """What signatures call it."""
        ...

    def parse(self, captions: Sequence[str], words: Sequence[tuple[str, ...]]) -> Iterable[Parse]:
        """The parses of n captions.

        Args:
            captions: as they came.
            words: the words of each; never empty.
        """
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, eq=False)
class Parses:
    """Parsed captions.

    Args:
        of_captions: one per caption; equal captions share theirs. A caption without words has a parse without words.
        by_words: the distinct ones, by the bytes of the int32 ids of their words.
    """

    of_captions: Sequence[Parse]
    by_words: Mapping[bytes, Parse]


@dataclass(frozen=True)
class ParsedCaptions(KeyedByFields):
    """Parses of references and candidates.

    Args:
        tokenizer: how captions become words; tokens are cut at white space, as parsers do.
        source: where parses come from.
        meanwhile: called with every parse that is made, while other captions are being parsed; not a part of the key.
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
        distinct = {id(parse): parse for parse in annotation.of_captions}
        numbers = {key: number for number, key in enumerate(distinct)}
        rows = np.array([numbers[id(parse)] for parse in annotation.of_captions], np.int64)
        return Stored({"rows": rows, **parse_arrays([*distinct.values()])})

    def from_stored(self, stored: Stored, references: References) -> Parses:
        words: Tokens = references.layer(WordLayer(self.tokenizer))
        parses, rows = StoredParses(stored.arrays), stored.arrays["rows"]
        if rows.shape != (len(references.texts),) or not 0 <= rows.min() <= rows.max() < len(parses):
            raise ValueError("not one parse per caption")
        return Parses(ParsesOfRows(parses, rows), KnownParses(parses, rows, words.ids, words.offsets))

    def of_references(self, references: References) -> Parses:
        words: Tokens = references.layer(WordLayer(self.tokenizer))
        return self._parsed(references.texts, words, {})

    def of_candidates(self, captions: Captions, references: Parses) -> Parses:
        words: Tokens = captions.layer(WordLayer(self.tokenizer))[0]
        return self._parsed(captions.candidates, words, references.by_words)

    def of_texts(self, captions: Sequence[str]) -> Parses:
        """The parses of captions that are in no table."""
        return self._parsed(captions, Tokens.of(captions, self.tokenizer).split(), {})

    def _parsed(self, captions: Sequence[str], words: Tokens, known: Mapping[bytes, Parse]) -> Parses:
        """Parse the captions that are not yet known; both have ids of one vocabulary.

        They are parsed in the order of their words, since the grammar parser shares work between neighbours that begin
        with the same words.
        """
        bounds = list(pairwise(words.offsets.tolist()))
        keys = [words.ids[start:end].tobytes() for start, end in bounds]
        first = {key: row for row, key in reversed([*enumerate(keys)])}
        parses = {key: known[key] for key in first if key in known}
        parses.setdefault(b"", _NOTHING)
        vocabulary = words.vocabulary.words()
        unknown = sorted(
            (tuple(vocabulary[i] for i in words.ids[slice(*bounds[row])].tolist()), row)
            for key, row in first.items()
            if key not in parses
        )
        new = self.source.parse([captions[row] for _, row in unknown], [sentence for sentence, _ in unknown])
        for (_, row), parse in zip(unknown, new, strict=True):
            parses[keys[row]] = parse
            if self.meanwhile is not None:
                self.meanwhile(parse)
        return Parses(tuple(parses[key] for key in keys), parses)
