"""MIMA, the grammatical part of SMURF: one minus the information flow of attention, which is higher for good grammar.

Feinglass and Yang 2021, equation 6, with the conventions of the authors' code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import State
from captious.metrics.shared.attention_flow import FlowLayer
from captious.metrics.shared.encoder_metric import EncoderMetric


class Mima(EncoderMetric):
    """One minus the information flow of a caption; 0 to 1, higher is better. The corpus score is the mean.

    References are not used. An empty caption scores 0.
    """

    name = "mima"
    summary = "grammaticality of a caption, without references, from a model's attention maps"
    variants: ClassVar[Mapping[str, str]] = {"official": "the authors' code"}
    default_models = ("distilbert-base-uncased",)
    needs_references = False

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        flow = captions.own_layer(FlowLayer(self.encoder))
        return np.where(np.isnan(flow), 0.0, 1.0 - flow)
