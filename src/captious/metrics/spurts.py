"""SPURTS, the stylistic part of SMURF: information flow of attention without stop words, which is higher for rare
words.

Feinglass and Yang 2021, with the conventions of the authors' code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import State
from captious.metrics.shared.attention_flow import FlowLayer, StopWords
from captious.metrics.shared.encoder_metric import EncoderMetric

_STOP_WORDS: dict[str, StopWords] = {"official": "masked", "paper": "removed"}


class Spurts(EncoderMetric):
    """Information flow of a caption without stop words; 0 to 1, higher is better. The corpus score is the mean.

    References are not used. An empty caption scores 0.
    """

    name = "spurts"
    summary = "style of a caption, without references, from a model's attention maps without stop words"
    variants: ClassVar[Mapping[str, str]] = {
        "official": "the authors' code: stop words replaced by padding tokens",
        "paper": "stop words removed",
    }
    default_models = ("distilroberta-base",)
    needs_references = False

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        flow = captions.own_layer(FlowLayer(self.encoder, _STOP_WORDS[self.variant]))
        return np.nan_to_num(flow, nan=0.0)
