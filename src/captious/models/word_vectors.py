"""Word vectors of any kind behind one interface, and annotation layers of words with vectors."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from captious.data import Captions, References, Stored, stored_key
from captious.data.prepared import check_words, text_array, texts_of
from captious.errors import ParameterError, ResourceError
from captious.native import Vocabulary
from captious.resources import vectors as resource
from captious.resources.vector_files import Block, DuplicateWordError, VectorIndex, index_of
from captious.resources.vectors import INSTALL
from captious.text import Tokenizer, TokenLayer, Tokens, WordLayer
from captious.text.stop_words import StopWords
from captious.words import counted, shortened

# ``WordVectors``: words to rows, from any file or array.

_SHOWN = 8  # digits of the checksum in signatures


def missing_vectors() -> str | None:
    """Return the command that adds word vectors, or None if there are any."""
    return None if resource.default() or resource.names() else INSTALL


@dataclass(frozen=True)
class WordVectors:
    """Word vectors. Create them with ``open`` or ``of``.

    Args:
        name: name in signatures.
        checksum: hexadecimal checksum of the content.
        index: looks words up.
        origin: human-readable origin.
        reopen: opens the same vectors in another process; None if they must be copied.
    """

    name: str
    checksum: str
    index: VectorIndex = field(compare=False)
    origin: str = field(compare=False)
    reopen: Callable[[], WordVectors] | None = field(default=None, compare=False)

    @classmethod
    def open(cls, what: WordVectors | str | os.PathLike[str] | None = None) -> WordVectors:
        """Return vectors by the name given to ``captious vectors add``, or from a file; None for the default.

        Open vectors are returned as they are.

        The default is named by ``CAPTIOUS_VECTORS``, or is the only one that was added.

        Raises:
            MissingExtraError, ParameterError, UnknownNameError, ResourceError: as ``captious.resources.vectors.find``.
        """
        if isinstance(what, WordVectors):
            return what
        match = resource.find(what)
        return cls(match.name, match.checksum, match.index, match.origin, partial(cls.open, what))

    @classmethod
    def of(cls, words: Sequence[str], vectors: ArrayLike, name: str = "own") -> WordVectors:
        """Create vectors from memory.

        Args:
            words: n words, each once.
            vectors: numbers [n, d], converted to single precision.
            name: name in signatures.

        Raises:
            ParameterError: not one row of finite numbers for each word, a duplicate word, or no words.
        """
        if not isinstance(name, str) or not resource.NAME.fullmatch(name):
            raise ParameterError(
                f"{name!r} is not a valid name for word vectors", hint="use letters, digits, dots, - and _"
            )
        words = list(words) if isinstance(words, Iterable) else [words]
        if not all(isinstance(word, str) for word in words):
            raise ParameterError("the words must be strings", hint='give them as ["dog", "cat"]')
        try:
            with np.errstate(over="ignore"):
                rows = np.ascontiguousarray(vectors, np.float32)
        except (OverflowError, TypeError, ValueError) as error:
            raise ParameterError(
                f"these are not vectors: {error}", hint="give one row of finite numbers for each word"
            ) from error
        if rows.ndim == 2 and rows.size and not np.isfinite(rows).all():
            raise ParameterError("a vector contains a number that is not finite", hint="remove that word")
        if rows.ndim != 2 or len(rows) != len(words) or not rows.size:
            raise ParameterError(
                f"an array of shape {rows.shape} does not match {counted(len(words), 'word')}",
                hint="give one row of finite numbers for each word",
            )
        try:
            encoded = [word.encode() for word in words]
        except UnicodeEncodeError as error:
            raise ParameterError(
                f"{shortened(error.object)} contains a lone surrogate (half of a character)", hint="remove that word"
            ) from error
        try:
            index = VectorIndex(index_of([Block.of(encoded, rows)]), rows)
        except DuplicateWordError as error:
            raise ParameterError(f"duplicate word {shortened(error.word)}", hint="give each word once") from error
        digest = hashlib.sha256(b"".join(b"%d:%s" % (len(word), word) for word in encoded) + b"\0" + rows.tobytes())
        return cls(name, digest.hexdigest()[:16], index, "memory")

    @property
    def label(self) -> str:
        """The vectors in signatures: name and checksum, and whether unknown words are composed of subwords."""
        subwords = "+subwords" if self.index.subwords is not None else ""
        return f"{self.name}-{self.checksum[:_SHOWN]}{subwords}"

    @property
    def width(self) -> int:
        """Length of a vector."""
        return self.index.width

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.index)

    def __repr__(self) -> str:
        return f"<WordVectors {self.label}: {counted(len(self), 'word')} x {self.width}>"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by reference, so that other processes map the same file instead of getting a copy."""
        if self.reopen is not None:
            return self.reopen, ()
        return WordVectors, (self.name, self.checksum, self.index, self.origin)

    def look_up(self, words: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Return which words have a vector, bool[n], and the vectors, float32[n, width]; zeros for words without.

        Words must match exactly, case included.

        Raises:
            ResourceError: the compiled file is damaged.
        """
        try:
            return self.index.look_up(words)
        except ValueError as error:
            raise ResourceError(
                f"the compiled word vectors are damaged: {error}",
                where=f"{self.label}, from {self.origin}",
                hint="compile them again: captious vectors add FILE --name NAME --replace",
            ) from error


# Annotation layers of words with vectors: in their order, and as bags of distinct words.
#
# Vectors are looked up once for every distinct word of a run, and candidates share those of their references.

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
