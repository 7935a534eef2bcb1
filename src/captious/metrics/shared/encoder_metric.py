"""Base class of metrics with contextual encoders: the model as a parameter and in signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.metrics.contract.metric import MeanMetric
from captious.metrics.contract.parameters import ResourceParameter
from captious.models import Encoder
from captious.models.encoders import as_encoder
from captious.models.pretrained import missing_extra
from captious.phrases import counted_of


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

    without_parameters = frozenset({"tokenizer"})
    model: EncoderParameter = EncoderParameter(
        default=None, summary="contextual encoder; none for that of the publication"
    )

    @classmethod
    def missing(cls) -> str | None:
        return missing_extra()

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
