"""Base class of metrics with word vectors: vectors and stop words as parameters, and warnings."""

from __future__ import annotations

import os
from typing import ClassVar

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import ResourceParameter
from captious.metrics.shared.stop_words_parameter import StopWordsParameter
from captious.models import WordVectors
from captious.models.embedded_words import EmbeddedLayer
from captious.models.word_vectors import missing_vectors
from captious.phrases import counted_of
from captious.text.stop_words import StopWords, as_stop_words

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

    #: The score of a caption in which no word has a vector.
    score_of_nothing: ClassVar[float] = 0.0

    vectors: VectorsParameter = VectorsParameter(default=None)
    stop_words: StopWordsParameter = StopWordsParameter(default=None)

    def setup(self) -> None:
        if "stop_words" not in self.arguments:
            self.stop_words = self.default_stop_words

    @classmethod
    def missing(cls) -> str | None:
        return missing_vectors()

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
