"""Annotation layers of encoders: each distinct text is encoded once for all metrics.

``EncodingLayer`` keeps the hidden states of one layer of a model; ``TextLayer`` is for small values computed from them,
where keeping states or maps would take too much memory.
rows: int64[n_captions]: caption i is the distinct text number ``rows[i]``. => rows: int64[n_captions]: caption i is
distinct text ``rows[i]``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, KeyedByFields, References, Stored, stored_key
from captious.data.storage.annotations import text_array, texts_of
from captious.models.encoders import Encoder
from captious.models.token_vectors import TokenVectors

R = TypeVar("R")
Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True, eq=False)
class EncodedTexts:
    """Captions as tokens with their hidden states.

    Args:
        rows: int64[n_captions]: caption i is the distinct text number ``rows[i]``.
        texts: the distinct texts.
        ids: token ids of each distinct text, special ones included.
        vectors: their hidden states.
    """

    rows: NDArray[np.int64]
    texts: list[str]
    ids: list[list[int]]
    vectors: TokenVectors

    def __len__(self) -> int:
        return len(self.rows)


def numbered(values: Iterable[Value]) -> tuple[list[Value], NDArray[np.int64]]:
    """Return the distinct values in order of first occurrence, and the index of each value among them."""
    numbers: dict[Value, int] = {}
    rows = np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)
    return list(numbers), rows


@dataclass(frozen=True)
class EncodingLayer(KeyedByFields):
    """Hidden states of references and candidates.

    Args:
        encoder: the model.
        layer: which layer.
        lead: None to encode texts as they are; otherwise, texts are stripped of white space and prefixed with this
            unless empty.
    """

    encoder: Encoder
    layer: int
    lead: str | None = None

    @property
    def stored_as(self) -> str | None:
        return stored_key("states-1", self.encoder.stored_as, self.layer, repr(self.lead))

    def to_stored(self, annotation: EncodedTexts, references: References) -> Stored:
        lengths = np.array([len(sequence) for sequence in annotation.ids], np.int64)
        ids = np.array([token for sequence in annotation.ids for token in sequence], np.int64)
        arrays: dict[str, NDArray[Any]] = {"rows": annotation.rows, "texts": text_array(annotation.texts)}
        return Stored({**arrays, "ids": ids, "lengths": lengths, "vectors": annotation.vectors.array})

    def from_stored(self, stored: Stored, references: References) -> EncodedTexts:
        rows, ids, lengths, vectors = (stored.arrays[name] for name in ("rows", "ids", "lengths", "vectors"))
        texts = texts_of(stored.arrays["texts"])
        sound = (
            rows.shape == (len(references.texts),)
            and rows.dtype == lengths.dtype == ids.dtype == np.int64
            and 0 <= rows.min(initial=0) <= rows.max(initial=0) < max(len(texts), 1)
            and len(lengths) == len(texts)
            and lengths.min(initial=0) >= 0
            and lengths.sum() == len(ids) == len(vectors)
            and 0 <= ids.min(initial=0) <= ids.max(initial=0) < len(self.encoder.tokenizer)
            and vectors.dtype == np.float32
            and vectors.shape[1:] == (self.encoder.width,)
        )
        if not sound:
            raise ValueError("hidden states of other texts")
        bounds = pairwise([0, *np.cumsum(lengths).tolist()])
        flat = ids.tolist()
        return EncodedTexts(rows, texts, [flat[start:end] for start, end in bounds], TokenVectors.of(lengths, vectors))

    def form(self, texts: Sequence[str]) -> Sequence[str]:
        """Return texts as they are encoded."""
        if self.lead is None:
            return texts
        return [self.lead + text if text else "" for text in map(str.strip, texts)]

    def of_references(self, references: References) -> EncodedTexts:
        return self._encoded(references.texts)

    def of_candidates(self, captions: Captions, references: EncodedTexts) -> EncodedTexts:
        return self._encoded(captions.candidates, references)

    def _encoded(self, texts: Sequence[str], references: EncodedTexts | None = None) -> EncodedTexts:
        distinct, rows = numbered(self.form(texts))
        ids = self.encoder.tokenize(distinct)
        vectors = TokenVectors([len(sequence) for sequence in ids], self.encoder.width)
        places = {} if references is None else {text: row for row, text in enumerate(references.texts)}
        new = []
        for row, text in enumerate(distinct):
            if references is not None and text in places:
                vectors.write(row, references.vectors.read(places[text]))
            else:
                new.append(row)
        for batch in self.encoder.run([ids[row] for row in new], [self.layer]):
            for place, states in zip(batch.rows.tolist(), batch.hidden[self.layer], strict=True):
                vectors.write(new[place], states)
        return EncodedTexts(rows, distinct, ids, vectors)


@dataclass(frozen=True)
class TextLayer(Generic[R]):
    """The values of a function of each distinct text, by caption: arrays or lists with a row per distinct text.

    Args:
        name: the function, with everything that it depends on; equal names are the same annotation.
        function: maps distinct texts to an object indexed by ``rows``.
    """

    name: Hashable
    function: Callable[[Sequence[str]], NDArray[Any]]

    @property
    def key(self) -> Hashable:
        return "texts", self.name

    def of_references(self, references: References) -> NDArray[Any]:
        return self._values(references.texts)

    def of_candidates(self, captions: Captions, references: NDArray[Any]) -> NDArray[Any]:
        return self._values(captions.candidates)

    def _values(self, texts: Sequence[str]) -> NDArray[Any]:
        distinct, rows = numbered(texts)
        return self.function(distinct)[rows]
