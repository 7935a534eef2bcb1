"""What metrics on contextual encoders share: the model as a parameter, and its place in the signature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from captious.metrics.contract.metric import MeanMetric, Settings
from captious.models import Encoder
from captious.models.encoders import as_encoder, missing_extra

__all__ = ["EncoderMetric"]


class EncoderMetric(MeanMetric):
    """A mean of caption scores that come from a model's hidden states or attention maps.

    Args:
        encoder: the model, or its name on the Hugging Face hub, or its folder; by default that of the publication.
        variant: one of ``variants``.
    """

    def __init__(self, encoder: Encoder | str | None = None, *, variant: str | None = None) -> None:
        super().__init__(variant=variant)
        self.encoder = as_encoder(self.default_models[0] if encoder is None else encoder)

    @classmethod
    def from_settings(cls, settings: Settings, *, variant: str | None = None, **parameters: Any) -> EncoderMetric:
        return cls(**{"encoder": settings.encoder, **parameters}, variant=variant)

    @classmethod
    def missing(cls) -> str | None:
        return missing_extra()

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"variant": self.variant, "model": self.encoder.label}

    @property
    def uses_model(self) -> bool:
        return True

    @property
    def tokens(self) -> str:
        return self.encoder.name
