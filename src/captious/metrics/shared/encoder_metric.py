"""What metrics on contextual encoders share: the model as a parameter, and its place in the signature."""

from __future__ import annotations

from collections.abc import Mapping

from captious.metrics.contract.metric import MeanMetric
from captious.models import Encoder
from captious.models.encoders import as_encoder
from captious.models.pretrained import missing_extra

__all__ = ["EncoderMetric"]


class EncoderMetric(MeanMetric):
    """A mean of caption scores that come from a model's hidden states or attention maps.

    Args:
        model: a name on the Hugging Face hub, a folder, or an ``Encoder``; None for the model of the publication.
        variant: one of ``variants``.
    """

    def __init__(self, model: Encoder | str | None = None, *, variant: str | None = None) -> None:
        super().__init__(variant=variant)
        self.encoder = as_encoder(self.default_models[0] if model is None else model)

    @classmethod
    def missing(cls) -> str | None:
        return missing_extra()

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"variant": self.variant, "model": self.encoder.label}

    @property
    def tokens(self) -> str:
        return self.encoder.name
