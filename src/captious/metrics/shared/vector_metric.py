"""What metrics on word vectors share: the vectors and stop words as parameters, and what readers should be told."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, State
from captious.models import WordVectors
from captious.models.embedded_words import EmbeddedLayer
from captious.models.word_vectors import missing_vectors
from captious.text import Tokenizer
from captious.text.stop_words import StopWords, as_stop_words

__all__ = ["VectorMetric"]

_MANY = 0.1  # share of words without a vector that is worth a warning


class VectorMetric(MeanMetric):
    """A mean of caption scores that come from the vectors of words that are not stop words.

    Args:
        vectors: word vectors, their name, or a file; None for the default, see ``captious.WordVectors.open``.
        stop_words: a file with one word per line, or words; None for NLTK's list.
        variant: one of ``variants``.
        tokenizer: see ``captious.text.as_tokenizer``.
    """

    #: The score of a caption in which no word has a vector.
    score_of_nothing: ClassVar[float] = 0.0

    def __init__(
        self,
        vectors: WordVectors | str | os.PathLike[str] | None = None,
        *,
        stop_words: StopWords | str | os.PathLike[str] | Iterable[str] | None = None,
        variant: str | None = None,
        tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = "ptb",
    ) -> None:
        super().__init__(variant=variant, tokenizer=tokenizer)
        self.vectors = vectors if isinstance(vectors, WordVectors) else WordVectors.open(vectors)
        self.stop_words = self.usual_stop_words if stop_words is None else as_stop_words(stop_words)

    @classmethod
    def missing(cls) -> str | None:
        return missing_vectors()

    @property
    def usual_stop_words(self) -> StopWords:
        """The stop words of a metric that is given no others."""
        return as_stop_words(None)

    @property
    def words(self) -> EmbeddedLayer:
        """The words of captions that count."""
        return EmbeddedLayer(self.vectors, self.tokenizer, "token", self.stop_words)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "vectors": self.vectors.label, "stop-words": self.stop_words.name}

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        candidates, references = captions.layer(self.words)
        found = []
        nothing = int((candidates.lengths == 0).sum())
        if nothing:
            found.append(
                f"{nothing:,} of {len(captions):,} candidates have no word with a vector, not counting stop words: "
                f"{self.name} gives them {self.score_of_nothing:g}."
            )
        wanted = candidates.n_wanted + references.n_wanted
        unknown = wanted - len(candidates.ids) - len(references.ids)
        if unknown > _MANY * wanted:
            found.append(
                f"{unknown / wanted:.0%} of the words are out of vocabulary for {self.vectors.name} and are "
                f"ignored by {self.name}: do the vectors match the language and case of the captions?"
            )
        return found
