"""Annotation layers of words with vectors: in their order, and as bags of distinct words.

Vectors are looked up once for every distinct word of a run, and candidates share those of their references.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, Stored, stored_key
from captious.data.storage.annotations import check_words, text_array, texts_of
from captious.models.word_vectors import WordVectors
from captious.native import Vocabulary
from captious.text import Tokenizer, TokenLayer, Tokens, WordLayer
from captious.text.stop_words import StopWords

_NO_VECTOR, _LEFT_OUT = -1, -2
_LONGEST = 1_000_000_000  # words of a caption

_DELETED = str.maketrans("", "", ".,\"'")

#: Conversions of a token to the word that is looked up; "" stands for no word.
FORMS: Mapping[str, Callable[[str], str]] = {
    "token": lambda token: token,
    "lower": str.lower,
    "letters": lambda token: token.translate(_DELETED).lower(),
}


@dataclass(frozen=True, eq=False)
class WordTable:
    """The words with a vector among the tokens of a vocabulary.

    Args:
        of_tokens: int32[size of the vocabulary], the number of each token's word, or negative.
        words: words by number.
        rows: vectors of the words, float32[n_words, width].
        numbers: numbers of all words that were looked up, negative for those that do not count.
    """

    of_tokens: NDArray[np.int32]
    words: Sequence[str]
    rows: NDArray[np.float32]
    numbers: Mapping[str, int]

    def extended(self, layer: EmbeddedLayer, vocabulary: Vocabulary) -> WordTable:
        """Return the table of a vocabulary that begins with the one of this table; numbers do not change."""
        form = FORMS[layer.form]
        words = [form(token) for token in vocabulary.words(len(self.of_tokens))]
        new = [word for word in dict.fromkeys(words) if word and word not in self.numbers]
        content = [word for word in new if word not in layer.stop_words]
        has_vector, vectors = layer.vectors.look_up(content)
        places = np.where(has_vector, len(self.words) + np.cumsum(has_vector) - 1, _NO_VECTOR)
        numbers = {
            **self.numbers,
            **dict.fromkeys(new, _LEFT_OUT),
            **dict(zip(content, places.tolist(), strict=True)),
        }
        of_words = np.array([numbers[word] if word else _LEFT_OUT for word in words], np.int32)
        return WordTable(
            np.concatenate([self.of_tokens, of_words]),
            [*self.words, *compress(content, has_vector.tolist())],
            np.concatenate([self.rows, vectors[has_vector]]),
            numbers,
        )


@dataclass(frozen=True, eq=False)
class EmbeddedWords:
    """Captions as sequences of words with vectors.

    Args:
        ids: int32[n], numbers in the table.
        offsets: int64[n_captions + 1].
        table: the words and their vectors.
        n_wanted: number of words that are not stop words, with or without a vector.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    table: WordTable
    n_wanted: int

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of words of each caption."""
        return np.diff(self.offsets)

    @classmethod
    def of(cls, tokens: Tokens, table: WordTable) -> EmbeddedWords:
        """Return the words of captions, given the table of their vocabulary."""
        ids = table.of_tokens[tokens.ids]
        before = np.concatenate([[0], np.cumsum(ids >= 0)])
        return cls(ids[ids >= 0], before[tokens.offsets], table, int((ids != _LEFT_OUT).sum()))


@dataclass(frozen=True)
class EmbeddedLayer:
    """``EmbeddedWords`` of references and candidates; the candidates' table begins with that of the references.

    Args:
        vectors: the word vectors.
        tokenizer: the tokenizer.
        form: one of ``FORMS``.
        stop_words: words to leave out.
        split: split tokens further at white space.
    """

    vectors: WordVectors
    tokenizer: Tokenizer
    form: str
    stop_words: StopWords
    split: bool = False

    @property
    def key(self) -> Hashable:
        vectors = self.vectors.name, self.vectors.checksum
        return "embedded words", vectors, self.tokenizer, self.form, self.stop_words, self.split

    @property
    def _tokens(self) -> TokenLayer | WordLayer:
        return WordLayer(self.tokenizer) if self.split else TokenLayer(self.tokenizer)

    @property
    def stored_as(self) -> str | None:
        options = self.form, self.stop_words.stored_as, self.split
        return stored_key("embedded-1", self.vectors.checksum, self.tokenizer.stored_as, *options)

    def to_stored(self, annotation: EmbeddedWords, references: References) -> Stored:
        table = annotation.table
        arrays: dict[str, NDArray[Any]] = {"ids": annotation.ids, "offsets": annotation.offsets}
        arrays |= {"of_tokens": table.of_tokens, "rows": table.rows}
        arrays |= {"words": text_array(table.words), "looked_up": text_array([*table.numbers])}
        return Stored(
            {**arrays, "numbers": np.array([*table.numbers.values()], np.int64)}, {"n_wanted": annotation.n_wanted}
        )

    def from_stored(self, stored: Stored, references: References) -> EmbeddedWords:
        arrays = stored.arrays
        tokens: Tokens = references.layer(self._tokens)
        words = texts_of(arrays["words"])
        numbers = dict(zip(texts_of(arrays["looked_up"]), arrays["numbers"].tolist(), strict=True))
        table = WordTable(arrays["of_tokens"], words, arrays["rows"], numbers)
        embedded = EmbeddedWords(arrays["ids"], arrays["offsets"], table, int(stored.about["n_wanted"]))
        check_words(embedded.ids, embedded.offsets, n_words=len(words), n_captions=len(references.texts))
        sound = (
            table.of_tokens.shape == (len(tokens.vocabulary),)
            and table.of_tokens.dtype == np.int32
            and table.of_tokens.max(initial=-1) < len(words)
            and table.rows.shape == (len(words), self.vectors.width)
            and table.rows.dtype == np.float32
            and bool(np.isfinite(table.rows).all())
            and max(numbers.values(), default=-1) < len(words)
        )
        if not sound:
            raise ValueError("vectors of other words")
        return embedded

    def of_references(self, references: References) -> EmbeddedWords:
        tokens: Tokens = references.layer(self._tokens)
        empty = WordTable(np.empty(0, np.int32), [], np.empty((0, self.vectors.width), np.float32), {})
        return EmbeddedWords.of(tokens, empty.extended(self, tokens.vocabulary))

    def of_candidates(self, captions: Captions, references: EmbeddedWords) -> EmbeddedWords:
        tokens: Tokens = captions.layer(self._tokens)[0]
        return EmbeddedWords.of(tokens, references.table.extended(self, tokens.vocabulary))


@dataclass(frozen=True, eq=False)
class Bags:
    """Captions as bags of words: distinct words in order of first occurrence, with counts.

    Args:
        words: int32[n], numbers in the table.
        counts: int32[n].
        offsets: int64[n_captions + 1].
        table: the words and their vectors.
    """

    words: NDArray[np.int32]
    counts: NDArray[np.int32]
    offsets: NDArray[np.int64]
    table: WordTable

    @classmethod
    def of(cls, captions: EmbeddedWords) -> Bags:
        """Return the bags of captions."""
        n, size = len(captions.lengths), max(1, len(captions.table.words))
        keys = np.repeat(np.arange(n), captions.lengths) * size + captions.ids
        distinct, first, counts = np.unique(keys, return_index=True, return_counts=True)
        order = np.argsort(first)  # not that of the table, which depends on other captions
        offsets = np.concatenate([[0], np.cumsum(np.bincount(distinct // size, minlength=n))])
        return cls((distinct % size)[order].astype(np.int32), counts[order].astype(np.int32), offsets, captions.table)

    def caption(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the words of one caption, and their counts."""
        of_row = slice(self.offsets[row], self.offsets[row + 1])
        return self.words[of_row], self.counts[of_row]


@dataclass(frozen=True)
class BagLayer:
    """``Bags`` of references and candidates."""

    words: EmbeddedLayer

    @property
    def key(self) -> Hashable:
        return "bags", self.words.key

    @property
    def stored_as(self) -> str | None:
        return stored_key("bags-1", self.words.stored_as)

    def to_stored(self, annotation: Bags, references: References) -> Stored:
        references.layer(self.words)  # which it needs
        return Stored({"words": annotation.words, "counts": annotation.counts, "offsets": annotation.offsets})

    def from_stored(self, stored: Stored, references: References) -> Bags:
        table = references.layer(self.words).table
        words, counts, offsets = (stored.arrays[name] for name in ("words", "counts", "offsets"))
        check_words(words, offsets, n_words=len(table.words), n_captions=len(references.texts))
        if counts.shape != words.shape or counts.dtype != np.int32 or counts.min(initial=1) < 1:
            raise ValueError("counts of other words")
        lengths = np.diff(np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])[offsets])
        if lengths.max(initial=0) > _LONGEST:
            raise ValueError("captions of a billion words")
        return Bags(words, counts, offsets, table)

    def of_references(self, references: References) -> Bags:
        return Bags.of(references.layer(self.words))

    def of_candidates(self, captions: Captions, references: Bags) -> Bags:
        return Bags.of(captions.layer(self.words)[0])
