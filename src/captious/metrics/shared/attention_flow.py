"""What MIMA and SPURTS share: candidates as SMURF reads them, and the information flow of each distinct one."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, KeyedByFields
from captious.data.memo import Memo
from captious.errors import ParameterError
from captious.models import Encoder
from captious.models.information_flow import information_flow
from captious.text.nltk_tokens import smurf_text
from captious.text.stop_words import NLTK_STOP_WORDS

__all__ = ["FlowLayer", "StopWords"]

#: How stop words are treated; unless they stay, punctuation is removed.
StopWords: TypeAlias = Literal["stay", "masked", "removed"]

#: The most texts whose flow is kept with references: some 50 MB.
_TEXTS_KEPT = 1 << 18

#: How vocabularies mark a piece that follows a blank: byte-level ones and those of SentencePiece.
_BLANKS = str.maketrans("", "", "Ġ▁")


@dataclass(frozen=True)
class FlowLayer(KeyedByFields):
    """Information flow of candidates, float64[n_captions]; NaN for an empty one.

    What is known about texts is kept with the references, so that systems scored against the same references share it.

    Args:
        encoder: the model.
        stop_words: whether they stay, are masked (replaced by the padding token), or are removed.
    """

    encoder: Encoder
    stop_words: StopWords = "stay"

    def of_candidates(self, captions: Captions) -> NDArray[np.float64]:
        texts = [smurf_text(candidate) for candidate in captions.candidates]
        flow = np.full(len(texts), np.nan)
        rows = [row for row, text in enumerate(texts) if text]
        memo: Memo[float] = captions.references.memo(self.key, _TEXTS_KEPT)
        flow[rows] = memo.of([texts[row] for row in rows], lambda new: self._flow(new).tolist())
        return flow

    def _flow(self, texts: Sequence[str]) -> NDArray[np.float64]:
        sequences = self.encoder.tokenize(texts)
        if self.stop_words != "stay":
            sequences = self._without_stop_words(sequences)
        return information_flow(self.encoder, sequences)

    def _without_stop_words(self, sequences: Sequence[Sequence[int]]) -> list[list[int]]:
        tokenizer = self.encoder.tokenizer
        tokens = sorted({token for sequence in sequences for token in sequence})
        pieces = [piece.translate(_BLANKS) for piece in tokenizer.convert_ids_to_tokens(tokens)]
        gone = {token for token, piece in zip(tokens, pieces, strict=True) if piece in {*string.punctuation}}
        stopped = {token for token, piece in zip(tokens, pieces, strict=True) if piece in NLTK_STOP_WORDS.words}
        if self.stop_words == "removed":
            return [[t for t in sequence if t not in gone | stopped] for sequence in sequences]
        pad = tokenizer.pad_token_id
        if pad is None:
            raise ParameterError(
                f"{self.encoder.model} has no padding token to replace stop words with",
                help="use a model that has one, such as distilroberta-base",
            )
        return [[pad if t in stopped else t for t in sequence if t not in gone] for sequence in sequences]
