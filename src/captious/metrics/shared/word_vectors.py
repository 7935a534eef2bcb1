"""Base classes of metrics with word vectors, among them those on the mean vector of a caption."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import IntegerParameter, ResourceParameter
from captious.metrics.shared.arithmetic import CombineParameter, combine_references, share
from captious.metrics.shared.encoder_metric import OptionalEncoder
from captious.metrics.shared.stop_words import StopWordsParameter
from captious.models import Encoder, TextLayer, WordVectors
from captious.models.word_vectors import FORMS, EmbeddedLayer, EmbeddedWords, missing_vectors
from captious.native import mean_vectors, threads
from captious.text.stop_words import StopWords, as_stop_words
from captious.words import counted_of

# Base class of metrics with word vectors: vectors and stop words as parameters, and warnings.

_MANY = 0.1  # share of words without a vector that is worth a warning


class VectorsParameter(ResourceParameter[WordVectors | str | os.PathLike[str] | None, WordVectors]):
    """Word vectors, their name or a file; None for the default vectors, or with ``optional`` for none at all."""

    def __init__(
        self, *, default: None = None, optional: bool = False, summary: str = "word vectors: a name or a file"
    ) -> None:
        super().__init__(default=default, read=WordVectors.open, keep_none=optional, summary=summary)


class VectorMetric(MeanMetric):
    """A mean of caption scores computed from the vectors of words other than stop words.

    The default is ``default_stop_words``, NLTK's list unless overridden.
    """

    _requirements = (missing_vectors,)
    #: The score of a caption in which no word has a vector.
    score_of_nothing: ClassVar[float] = 0.0

    vectors: VectorsParameter = VectorsParameter(default=None)
    stop_words: StopWordsParameter = StopWordsParameter(default=None)

    def setup(self) -> None:
        if "stop_words" not in self.arguments:
            self.stop_words = self.default_stop_words

    @property
    def default_stop_words(self) -> StopWords:
        """The default stop words."""
        return as_stop_words(None)

    @property
    def words(self) -> EmbeddedLayer:
        """The layer of the words that count."""
        return EmbeddedLayer(self.vectors, self.tokenizer, "token", self.stop_words)

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        candidates, references = captions.layer(self.words)
        messages = []
        n_empty = int((candidates.lengths == 0).sum())
        if n_empty:
            messages.append(
                f"{counted_of(n_empty, len(captions), 'candidate', 'have')} no word with a vector, not counting stop "
                f"words: {self.name} gives them {self.score_of_nothing:g}."
            )
        n_words = candidates.n_wanted + references.n_wanted
        unknown = n_words - len(candidates.ids) - len(references.ids)
        if unknown > _MANY * n_words:
            messages.append(
                f"{unknown / n_words:.0%} of the words are out of vocabulary for {self.vectors.name} and are "
                f"ignored by {self.name}: do the vectors match the language and case of the captions?"
            )
        return messages


# Base class of MOWE and WEmbSim: captions are the means of their word vectors, compared by cosine.
#
# The vectors are static ones, or those of a contextual encoder for this caption.

_LOWEST = 1  # the first contextual layer, like ELMo's lowest
_ROWS_AT_ONCE = 1 << 13


class WordMeanMetric(VectorMetric):
    """A similarity of mean vectors.

    With a model instead of vectors, the vector of a word is the mean of the hidden states of its pieces in a layer, by
    default the first, which is the lowest contextual one (0 is the input embedding).

    Raises:
        ParameterError: vectors and a model, or a layer without a model.
    """

    #: Conversion of a token to a word, one of ``FORMS``.
    form: ClassVar[str] = "token"
    #: Whether the absolute value of the cosine is taken.
    absolute: ClassVar[bool] = False

    vectors: VectorsParameter = VectorsParameter(
        default=None, optional=True, summary="word vectors, a name or a file; not with a model"
    )
    model: OptionalEncoder = OptionalEncoder(default=None, summary="contextual encoder in place of vectors")
    layer: IntegerParameter[int | None] = IntegerParameter(
        default=None, summary="layer of the model; none for 1, the lowest"
    )
    combine: CombineParameter = CombineParameter(default="mean")

    def setup(self) -> None:
        super().setup()
        if self.model is None:
            if self.layer is not None:
                raise ParameterError(
                    f"{self.name} cannot use layer {self.layer} with word vectors",
                    hint="give a model, or remove the layer",
                )
            self.vectors = WordVectors.open(self.arguments.get("vectors"))
        elif "vectors" in self.arguments:
            raise ParameterError(
                f"{self.name} takes word vectors or a model, not both",
                hint=f"remove one of them: {self.name}:model=none, or {self.name}:vectors=none",
            )

    @property
    def encoder(self) -> Encoder | None:
        """Model, if it computes the vectors."""
        return self.model

    @property
    def encoded_layer(self) -> int:
        """Layer of the model whose hidden states are averaged."""
        return _LOWEST if self.layer is None else self.layer

    @property
    def words(self) -> EmbeddedLayer:
        return EmbeddedLayer(self.vectors, self.tokenizer, self.form, self.stop_words)

    @property
    def parameters(self) -> Mapping[str, object]:
        before = {"variant": self.variant, "tokenizer": self.tokenizer.name}
        after = {"stop-words": self.stop_words.name, "combine": self.combine}
        if self.model is None:
            return {**before, "vectors": self.vectors.label, **after}
        return {**before, "model": self.model.label, "layer": self.encoded_layer, **after}

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        return super().warnings(captions, state) if self.model is None else []

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        if not len(captions):
            return np.empty(0)
        offsets = captions.references.offsets
        rows = np.repeat(np.arange(len(captions)), np.diff(offsets))
        if self.model is None:
            candidates, references = captions.layer(self.words)
            similarity = np.empty(len(rows))
            for start in range(0, len(captions), _ROWS_AT_ONCE):
                stop = min(start + _ROWS_AT_ONCE, len(captions))
                first, end = int(offsets[start]), int(offsets[stop])
                vectors = _means(candidates, start, stop)[rows[first:end] - start]
                similarity[first:end] = self._similarity(vectors, _means(references, first, end))
        else:
            layer: TextLayer[Any] = TextLayer(("word means", *self._encoder_key), self._encoded)
            encoded, encoded_references = captions.layer(layer)
            similarity = self._similarity(encoded[rows], encoded_references)
        return combine_references(self.combine, similarity, offsets)

    def _similarity(self, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the similarity of rows, float64[n]."""
        lengths = np.sqrt((a * a).sum(axis=1)) * np.sqrt((b * b).sum(axis=1))
        cosines = np.clip(share((a * b).sum(axis=1), lengths, self.score_of_nothing), -1, 1)  # rounding may exceed that
        return np.abs(cosines) if self.absolute else cosines

    # ---- contextual

    @property
    def _encoder_key(self) -> tuple[object, ...]:
        """Everything that the vector of a text depends on."""
        return self.model, self.encoded_layer, self.tokenizer, self.form, self.stop_words

    def _encoded(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return mean vectors of texts, float64[n, d]; zeros if no word is left."""
        assert self.model is not None
        captions = [self.tokenizer(text) for text in texts]
        pieces = self._pieces([" ".join(words) for words in captions], captions)
        rows = [row for row, (ids, _) in enumerate(pieces) if ids]
        means = np.zeros((len(texts), self.model.width))
        for batch in self.model.run([pieces[row][0] for row in rows], [self.encoded_layer]):
            for place, states in zip(batch.rows.tolist(), batch.hidden[self.encoded_layer], strict=True):
                words = [states[where].astype(np.float64).mean(axis=0) for where in pieces[rows[place]][1]]
                if words:
                    means[rows[place]] = np.mean(words, axis=0)
        return means

    def _pieces(self, texts: list[str], captions: list[list[str]]) -> list[tuple[list[int], list[list[int]]]]:
        """Return, for each text, the ids of its pieces, and the pieces of each word that is not a stop word."""
        assert self.model is not None
        if not texts:
            return []
        tokenizer = self.model.tokenizer
        if not getattr(tokenizer, "is_fast", False):
            raise ParameterError(
                f"the tokenizer of {self.model.model} does not report character offsets",
                hint="use a model with a fast tokenizer",
            )
        encoded = tokenizer(texts, truncation=True, max_length=self.model.max_length, return_offsets_mapping=True)
        of_texts = []
        for words, ids, spans in zip(captions, encoded["input_ids"], encoded["offset_mapping"], strict=True):
            ends = np.cumsum([len(word) + 1 for word in words])
            of_word: dict[int, list[int]] = {}
            for piece, (start, end) in enumerate(spans):
                if end > start:
                    word = int(np.searchsorted(ends, end - 1, side="right"))
                    of_word.setdefault(word, []).append(piece)
            counted = [pieces for word, pieces in of_word.items() if self._counts(words[word])]
            of_texts.append((cast("list[int]", ids) if counted else [], counted))
        return of_texts

    def _counts(self, token: str) -> bool:
        word = FORMS[self.form](token)
        return bool(word) and word not in self.stop_words


def _means(words: EmbeddedWords, first: int, end: int) -> NDArray[np.float64]:
    """Return mean vectors of some captions, float64[end - first, d]; zeros without words."""
    offsets = words.offsets[first : end + 1]
    return mean_vectors(words.table.rows, words.ids[offsets[0] : offsets[-1]], offsets - offsets[0], threads())
