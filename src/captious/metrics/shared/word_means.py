"""What MOWE and WEmbSim share: a caption is the mean of the vectors of its words, and captions are compared by cosine.

The vectors are a word's own, or what a contextual encoder gives it in this caption.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.ranges import whole
from captious.metrics.shared.combining import checked_combine, combined
from captious.metrics.shared.vector_metric import VectorMetric
from captious.models import Encoder, TextLayer, WordVectors
from captious.models.embedded_words import FORMS, EmbeddedLayer, EmbeddedWords
from captious.models.encoders import as_encoder
from captious.native import mean_vectors, threads
from captious.text import Tokenizer
from captious.text.stop_words import StopWords, as_stop_words

__all__ = ["WordMeanMetric"]

_LOWEST = 1  # the first contextual layer, like ELMo's lowest
_ROWS_AT_ONCE = 1 << 13


class WordMeanMetric(VectorMetric):
    """A similarity of mean vectors.

    Args:
        vectors: see ``VectorMetric``; not together with a model.
        model: a contextual encoder, its name on the Hugging Face hub, or its folder, in place of vectors. The vector of
            a word is the mean of the hidden states of its pieces.
        layer: layer of the model; None for 1, the lowest contextual layer (0 is the input embedding).
        combine: how to combine several references: "mean", "max" or "min" of the similarities; None for the metric's
            default.
        stop_words, variant, tokenizer: see ``VectorMetric``.

    Raises:
        UnknownNameError: no such way to combine.
        ParameterError: vectors and a model, or a layer without a model.
    """

    #: How several references are combined.
    usual_combine: ClassVar[str]
    #: How a token becomes a word, one of ``FORMS``.
    form: ClassVar[str] = "token"
    #: Whether the cosine counts without its sign.
    absolute: ClassVar[bool] = False

    def __init__(
        self,
        vectors: WordVectors | str | os.PathLike[str] | None = None,
        *,
        model: Encoder | str | None = None,
        layer: int | None = None,
        combine: str | None = None,
        stop_words: StopWords | str | os.PathLike[str] | Iterable[str] | None = None,
        variant: str | None = None,
        tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = "ptb",
    ) -> None:
        if model is None:
            super().__init__(vectors, stop_words=stop_words, variant=variant, tokenizer=tokenizer)
        else:
            MeanMetric.__init__(self, variant=variant, tokenizer=tokenizer)
            self.stop_words = self.usual_stop_words if stop_words is None else as_stop_words(stop_words)
        if model is not None and vectors is not None:
            raise ParameterError(
                f"{self.name} takes word vectors or a model, not both",
                help=f"remove one of them: {self.name}:model=none, or {self.name}:vectors=none",
            )
        if layer is not None and model is None:
            raise ParameterError(
                f"{self.name} cannot use layer {layer} with word vectors", help="give a model, or remove the layer"
            )
        self.combine = checked_combine(self.name, self.usual_combine if combine is None else combine)
        self.encoder = None if model is None else as_encoder(model)
        self.layer = _LOWEST if layer is None else whole(self.name, "layer", layer, 0)

    @property
    def words(self) -> EmbeddedLayer:
        return EmbeddedLayer(self.vectors, self.tokenizer, self.form, self.stop_words)

    @property
    def parameters(self) -> Mapping[str, object]:
        if self.encoder is None:
            return {**super().parameters, "combine": self.combine}
        return {
            **{"variant": self.variant, "tokenizer": self.tokenizer.name},
            **{"model": self.encoder.label, "layer": self.layer},
            **{"stop-words": self.stop_words.name, "combine": self.combine},
        }

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        return super().warnings(captions, state) if self.encoder is None else []

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        if not len(captions):
            return np.empty(0)
        offsets = captions.references.offsets
        rows = np.repeat(np.arange(len(captions)), np.diff(offsets))
        similarity = np.full(len(rows), self.score_of_nothing)
        if self.encoder is None:
            candidates, references = captions.layer(self.words)
            ours, theirs = _Means(candidates), _Means(references)
            for start in range(0, len(captions), _ROWS_AT_ONCE):
                stop = min(start + _ROWS_AT_ONCE, len(captions))
                first, end = int(offsets[start]), int(offsets[stop])
                own = ours.of(start, stop)
                self._compare(own[rows[first:end] - start], theirs.of(first, end), similarity[first:end])
        else:
            layer: TextLayer[Any] = TextLayer(("word means", *self._in_encoder), self._encoded)
            encoded, encoded_references = captions.layer(layer)
            self._compare(encoded[rows], encoded_references, similarity)
        return combined(self.combine, similarity, offsets)

    def _compare(self, a: NDArray[np.float64], b: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Cosines of rows; what is compared with nothing stays as it is in ``out``."""
        lengths = np.sqrt((a * a).sum(axis=1)) * np.sqrt((b * b).sum(axis=1))
        cosines = np.divide((a * b).sum(axis=1), lengths, out=out, where=lengths > 0)
        np.clip(cosines, -1, 1, out=cosines)  # rounding may exceed that
        if self.absolute:
            np.abs(cosines, out=cosines)

    # ---- contextual

    @property
    def _in_encoder(self) -> tuple[object, ...]:
        """All that the vector of a text depends on."""
        return self.encoder, self.layer, self.tokenizer, self.form, self.stop_words

    def _encoded(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Mean vectors of texts, float64[n, d]; zeros where no word is left."""
        assert self.encoder is not None
        captions = [self.tokenizer(text) for text in texts]
        pieces = self._pieces([" ".join(words) for words in captions], captions)
        kept = [row for row, (ids, _) in enumerate(pieces) if ids]
        found = np.zeros((len(texts), self.encoder.width))
        for batch in self.encoder.run([pieces[row][0] for row in kept], [self.layer]):
            for place, states in zip(batch.rows.tolist(), batch.hidden[self.layer], strict=True):
                words = [states[where].astype(np.float64).mean(axis=0) for where in pieces[kept[place]][1]]
                if words:
                    found[kept[place]] = np.mean(words, axis=0)
        return found

    def _pieces(self, texts: list[str], captions: list[list[str]]) -> list[tuple[list[int], list[list[int]]]]:
        """For each text, the ids of its pieces, and which pieces make up each word that is not a stop word."""
        assert self.encoder is not None
        if not texts:
            return []
        tokenizer = self.encoder.tokenizer
        if not getattr(tokenizer, "is_fast", False):
            raise ParameterError(
                f"the tokenizer of {self.encoder.model} does not report character offsets",
                help="use a model with a fast tokenizer",
            )
        encoded = tokenizer(texts, truncation=True, max_length=self.encoder.max_length, return_offsets_mapping=True)
        found = []
        for words, ids, spans in zip(captions, encoded["input_ids"], encoded["offset_mapping"], strict=True):
            ends = np.cumsum([len(word) + 1 for word in words])
            of_word: dict[int, list[int]] = {}
            for piece, (start, end) in enumerate(spans):
                if end > start:
                    word = int(np.searchsorted(ends, end - 1, side="right"))
                    of_word.setdefault(word, []).append(piece)
            wanted = [pieces for word, pieces in of_word.items() if self._counts(words[word])]
            found.append((cast("list[int]", ids) if wanted else [], wanted))
        return found

    def _counts(self, token: str) -> bool:
        word = FORMS[self.form](token)
        return bool(word) and word not in self.stop_words


class _Means:
    """Mean vectors of captions, computed in runs: those of a whole corpus would fill the memory."""

    def __init__(self, words: EmbeddedWords) -> None:
        self._words = words
        self._rows = words.table.rows

    def of(self, first: int, end: int) -> NDArray[np.float64]:
        """Of captions, float64[end - first, d]; zeros without words."""
        offsets = self._words.offsets[first : end + 1]
        ids = self._words.ids[offsets[0] : offsets[-1]]
        return mean_vectors(self._rows, ids, offsets - offsets[0], threads())
