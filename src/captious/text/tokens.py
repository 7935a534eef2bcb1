"""Annotation layers of words: tokens as ids in a shared vocabulary, and n-grams of references.

A table returns them on request: ``captions.layer(TokenLayer(PTB))``. Each is computed once and shared by all metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, Stored, stored_key
from captious.data.prepared import check_words
from captious.native import ReferenceNgrams, Vocabulary, threads
from captious.text.tokenizers import Tokenizer


@dataclass(frozen=True, eq=False)
class Tokens:
    """Captions as word ids.

    Args:
        ids: int32[n_tokens].
        offsets: int64[n_captions + 1]; caption i is ``ids[offsets[i]:offsets[i + 1]]``.
        vocabulary: the words, including those that ``split`` produces. It does not change after captions are tokenized,
            so threads may share it.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vocabulary: Vocabulary

    @classmethod
    def of(cls, captions: Sequence[str], tokenizer: Tokenizer, vocabulary: Vocabulary | None = None) -> Tokens:
        """Tokenize captions.

        Args:
            captions: n captions.
            tokenizer: the tokenizer.
            vocabulary: words that keep their ids; it is copied, not added to.
        """
        vocabulary = Vocabulary() if vocabulary is None else vocabulary.copy()
        ids, offsets = tokenizer.encode(captions, vocabulary)
        _add_pieces(vocabulary)
        return cls(ids, offsets, vocabulary)

    def in_one_form(self, form: Callable[[str], str], vocabulary: Vocabulary | None = None) -> Tokens:
        """Return the captions with each word in its normal form.

        Args:
            form: returns the form of a word.
            vocabulary: words that keep their ids; it is copied, not added to.
        """
        vocabulary = Vocabulary() if vocabulary is None else vocabulary.copy()
        ids = vocabulary.add(tuple(map(form, self.vocabulary.words())))
        _add_pieces(vocabulary)
        return Tokens(ids[self.ids], self.offsets, vocabulary)

    @classmethod
    def checked(cls, ids: NDArray[np.int32], offsets: NDArray[np.int64], vocabulary: Vocabulary, n: int) -> Tokens:
        """Restore tokens of n captions that were stored.

        Raises:
            ValueError: they contradict each other.
        """
        check_words(ids, offsets, n_words=len(vocabulary), n_captions=n, what="tokens")
        return cls(ids, offsets, vocabulary)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each caption, int64[n_captions]."""
        return np.diff(self.offsets)

    def take(self, captions: NDArray[np.int64]) -> Tokens:
        """Select captions, which may repeat."""
        starts, lengths = self.offsets[captions], self.lengths[captions]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return Tokens(self.ids[ranges(starts, lengths)], offsets, self.vocabulary)

    def equal(self) -> NDArray[np.int64]:
        """Return a number for each caption, equal for equal tokens: int64[n_captions], from 0."""
        content, numbers = self.ids.tobytes(), dict[bytes, int]()
        ends = (self.ids.itemsize * self.offsets).tolist()
        distinct = (numbers.setdefault(content[start:end], len(numbers)) for start, end in pairwise(ends))
        return np.fromiter(distinct, np.int64, len(ends) - 1)

    def split(self) -> Tokens:
        """Return the captions with tokens split further at white space, and without empty tokens.

        PTB tokens may contain non-breaking spaces (``3 1/2``, phone numbers); the official BLEU and CIDEr split there,
        the official ROUGE does not. Returns itself if there is nothing to split.
        """
        divisible = self.vocabulary.divisible()
        if divisible.size == 0:
            return self
        cut = np.zeros(len(self.vocabulary), bool)
        cut[divisible] = True
        places = np.flatnonzero(cut[self.ids])
        if places.size == 0:
            return self
        pieces = {i: self.vocabulary.find(tuple(self.vocabulary.word(i).split())) for i in divisible.tolist()}
        inserted = [pieces[i] for i in self.ids[places].tolist()]
        parts = np.split(self.ids, np.stack([places, places + 1], axis=1).ravel())
        parts[1::2] = inserted
        grown = np.cumsum([0, *(len(piece) - 1 for piece in inserted)])
        offsets = self.offsets + grown[np.searchsorted(places, self.offsets)]
        return Tokens(np.concatenate(parts), offsets, self.vocabulary)


def _add_pieces(vocabulary: Vocabulary) -> None:
    """Add the words that ``Tokens.split`` produces from words with white space."""
    for word in map(vocabulary.word, vocabulary.divisible().tolist()):
        vocabulary.add(tuple(word.split()))


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of all ranges, concatenated."""
    return np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())


@dataclass(frozen=True)
class TokenLayer:
    """Tokens of references and candidates; the candidates' vocabulary begins with that of the references."""

    tokenizer: Tokenizer

    @property
    def stored_as(self) -> str | None:
        return stored_key("tokens-1", self.tokenizer.stored_as)

    def to_stored(self, annotation: Tokens, references: References) -> Stored:
        return Stored({"ids": annotation.ids, "offsets": annotation.offsets, **annotation.vocabulary.arrays()})

    def from_stored(self, stored: Stored, references: References) -> Tokens:
        arrays = {**stored.arrays}
        ids, offsets = arrays.pop("ids"), arrays.pop("offsets")
        return Tokens.checked(ids, offsets, Vocabulary.of_arrays(arrays), len(references.texts))

    def of_references(self, references: References) -> Tokens:
        if (form := self.tokenizer.form) is None:
            return Tokens.of(references.texts, self.tokenizer)
        surface: Tokens = references.layer(TokenLayer(replace(self.tokenizer, form=None)))
        return surface.in_one_form(form)

    def of_candidates(self, captions: Captions, references: Tokens) -> Tokens:
        if (form := self.tokenizer.form) is None:
            return Tokens.of(captions.candidates, self.tokenizer, references.vocabulary)
        surface: Tokens = captions.layer(TokenLayer(replace(self.tokenizer, form=None)))[0]
        return surface.in_one_form(form, references.vocabulary)


@dataclass(frozen=True)
class WordLayer:
    """Tokens that contain no white space and are not empty."""

    tokenizer: Tokenizer

    @property
    def stored_as(self) -> str | None:
        return stored_key("words-1", self.tokenizer.stored_as)

    def to_stored(self, annotation: Tokens, references: References) -> Stored:
        tokens: Tokens = references.layer(TokenLayer(self.tokenizer))
        return Stored() if annotation is tokens else Stored({"ids": annotation.ids, "offsets": annotation.offsets})

    def from_stored(self, stored: Stored, references: References) -> Tokens:
        tokens: Tokens = references.layer(TokenLayer(self.tokenizer))
        if not stored.arrays:
            return tokens
        arrays = stored.arrays
        return Tokens.checked(arrays["ids"], arrays["offsets"], tokens.vocabulary, len(references.texts))

    def of_references(self, references: References) -> Tokens:
        tokens: Tokens = references.layer(TokenLayer(self.tokenizer))
        return tokens.split()

    def of_candidates(self, captions: Captions, references: Tokens) -> Tokens:
        tokens: Tokens = captions.layer(TokenLayer(self.tokenizer))[0]
        return tokens.split()


@dataclass(frozen=True)
class NgramLayer:
    """An index of the n-grams (n = 1..4) of references, and the words of candidates."""

    tokenizer: Tokenizer

    @property
    def stored_as(self) -> str | None:
        return stored_key("ngrams-1", self.tokenizer.stored_as)

    def to_stored(self, annotation: ReferenceNgrams, references: References) -> Stored:
        references.layer(WordLayer(self.tokenizer))  # which it needs
        return Stored(annotation.arrays())

    def from_stored(self, stored: Stored, references: References) -> ReferenceNgrams:
        words: Tokens = references.layer(WordLayer(self.tokenizer))
        return ReferenceNgrams.of_arrays(words.ids, words.offsets, references.offsets, {**stored.arrays}, threads())

    def of_references(self, references: References) -> ReferenceNgrams:
        words: Tokens = references.layer(WordLayer(self.tokenizer))
        return ReferenceNgrams(words.ids, words.offsets, references.offsets, threads())

    def of_candidates(self, captions: Captions, references: ReferenceNgrams) -> Tokens:
        words: Tokens = captions.layer(WordLayer(self.tokenizer))[0]
        return words
