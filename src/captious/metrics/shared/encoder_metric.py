"""Base classes of metrics with contextual encoders, and the information flow of attention."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.data.tables import TextCache
from captious.errors import ParameterError
from captious.metrics.contract.metric import MeanMetric
from captious.metrics.contract.parameters import ResourceParameter
from captious.models import Encoder
from captious.models.encoders import as_encoder
from captious.models.pretrained import missing_extra
from captious.text.stop_words import NLTK_STOP_WORDS
from captious.text.tokenizers import smurf_text
from captious.words import counted_of

# The information flow of candidates, shared by MIMA and SPURTS.
#
# It measures the information that attending positions share with attended ones in a transformer: Feinglass and Yang
# 2021 (SMURF), equation 6, with the conventions of the authors' code. Special tokens are included; the value of a layer
# is the maximum over its heads, and the result the median over layers.


def information_flow(encoder: Encoder, sequences: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Return the information flow of sequences of token ids, special tokens included: float64[n_sequences], 0 to 1.

    It is the largest normalized mutual information of a layer's heads; then the median of the layers, halfway between
    the two middle ones if their number is even. Padding tokens inside a sequence attend, but are not attended to. NaN
    for a sequence of fewer than two tokens.

    Raises:
        ParameterError: the model's attention is not finite.
    """
    flow = np.full(len(sequences), np.nan)
    measured = [row for row, sequence in enumerate(sequences) if len(sequence) > 1]
    for batch in encoder.run([sequences[row] for row in measured], attentions=True):
        assert batch.attentions is not None
        best_heads = [normalized_information(maps).max(axis=-1) for maps in batch.attentions]
        for place, value in zip(batch.rows.tolist(), np.median(best_heads, axis=0).tolist(), strict=True):
            flow[measured[place]] = value
    if np.isnan(flow[measured]).any():
        raise ParameterError(f"the attention of {encoder.model} is not finite", hint="compute in float32")
    return flow


def normalized_information(maps: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return normalized mutual information of queries and keys, [..., n, n] to float64[...]; 0 to 1, NaN if n is 1.

    A map divided by its sum is the joint distribution; the result is 2 (H(X) + H(Y) - H(X, Y)) / (H(X) + H(Y)), with
    0 log 0 = 0. The base of the logarithm cancels out.
    """
    from scipy.special import entr

    joint = maps / maps.sum(axis=(-2, -1), keepdims=True, dtype=np.float64)
    apart = sum(entr(joint.sum(axis=axis)).sum(axis=-1) for axis in (-1, -2))
    with np.errstate(invalid="ignore"):
        information = 2 * (apart - entr(joint).sum(axis=(-2, -1))) / apart
    return np.asarray(information, np.float64)


#: Treatments of stop words; unless they stay, punctuation is removed.
StopWords: TypeAlias = Literal["stay", "masked", "removed"]

#: The most texts whose flow is kept with references: some 50 MB.
_TEXTS_KEPT = 1 << 18

#: Marks of a piece that follows a space, in byte-level and SentencePiece vocabularies.
_BLANKS = str.maketrans("", "", "Ġ▁")


@dataclass(frozen=True)
class FlowLayer:
    """Information flow of candidates, float64[n_captions]; NaN for an empty one.

    Values are cached with the references, so that systems scored against the same references share them.

    Args:
        encoder: the model.
        stop_words: whether they are kept, masked (replaced by the padding token), or removed.
    """

    encoder: Encoder
    stop_words: StopWords = "stay"

    def of_candidates(self, captions: Captions) -> NDArray[np.float64]:
        texts = [smurf_text(candidate) for candidate in captions.candidates]
        flow = np.full(len(texts), np.nan)
        rows = [row for row, text in enumerate(texts) if text]
        memo: TextCache[float] = captions.references.memo(self, _TEXTS_KEPT)
        flow[rows] = memo.get([texts[row] for row in rows], lambda new: self._flow(new).tolist())
        return flow

    def _flow(self, texts: Sequence[str]) -> NDArray[np.float64]:
        sequences = self.encoder.tokenize(texts)
        if self.stop_words != "stay":
            sequences = self._remove_stop_words(sequences)
        return information_flow(self.encoder, sequences)

    def _remove_stop_words(self, sequences: Sequence[Sequence[int]]) -> list[list[int]]:
        tokenizer = self.encoder.tokenizer
        tokens = sorted({token for sequence in sequences for token in sequence})
        pieces = [piece.translate(_BLANKS) for piece in tokenizer.convert_ids_to_tokens(tokens)]
        punctuation = {token for token, piece in zip(tokens, pieces, strict=True) if piece in {*string.punctuation}}
        stop_words = {token for token, piece in zip(tokens, pieces, strict=True) if piece in NLTK_STOP_WORDS.words}
        if self.stop_words == "removed":
            return [[t for t in sequence if t not in punctuation | stop_words] for sequence in sequences]
        pad = tokenizer.pad_token_id
        if pad is None:
            raise ParameterError(
                f"{self.encoder.model} has no padding token to replace stop words with",
                hint="use a model that has one, such as distilroberta-base",
            )
        return [[pad if t in stop_words else t for t in sequence if t not in punctuation] for sequence in sequences]


# Base class of metrics with contextual encoders: the model as a parameter and in signatures.


class EncoderParameter(ResourceParameter[Encoder | str | None, Encoder]):
    """A model on the Hugging Face hub, a folder, or an ``Encoder``; None for the first of ``default_models``."""

    def check(self, metric: Any, value: Any) -> Encoder:
        return as_encoder(metric.default_models[0] if value is None else value)


class OptionalEncoder(ResourceParameter[Encoder | str | None, Encoder | None]):
    """A model on the Hugging Face hub, a folder, or an ``Encoder``; None for none, or that of another parameter."""

    def __init__(self, *, default: None = None, summary: str) -> None:
        super().__init__(default=default, read=as_encoder, keep_none=True, summary=summary)


class EncoderMetric(MeanMetric):
    """A mean of caption scores computed from a model's hidden states or attention maps."""

    _requirements: ClassVar[tuple[Callable[[], str | None], ...]] = (missing_extra,)
    without_parameters = frozenset({"tokenizer"})
    model: EncoderParameter = EncoderParameter(
        default=None, summary="contextual encoder; none for that of the publication"
    )

    @property
    def encoder(self) -> Encoder:
        """The model."""
        return self.model

    @property
    def tokens(self) -> str:
        return self.encoder.name


def cut_warning(cut: NDArray[np.bool_], what: str, model: str, most: int, *, including: str = "") -> list[str]:
    """Return a warning that texts are longer than a model reads; none if there are no such texts.

    Args:
        cut: which texts were truncated, bool[n].
        what: kind of the texts, in the singular.
        model: the model.
        most: maximum number of tokens.
        including: what these tokens include.
    """
    n = int(np.count_nonzero(cut))
    if n == 0:
        return []
    return [
        f"{counted_of(n, len(cut), what, 'are')} longer than the {most:,} tokens that {model} reads{including}: the "
        "rest is ignored."
    ]
