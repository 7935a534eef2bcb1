"""Novel: the share of candidates that are not among the captions that the system was trained on.

Papers on diversity report it as a percentage (Shetty et al. 2017; Wang and Chan 2019). `language_eval` of
self-critical.pytorch divides the number of distinct novel captions by that of all captions, which is not a mean over
images; a report of several candidates per image shows that number, too (``captious.evaluation.description``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, read_references
from captious.errors import ParameterError
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import Resource
from captious.metrics.shared.training_captions import known_captions, training_label
from captious.text import WordLayer

__all__ = ["Novel"]


class _TrainingCaptions(Resource[References | str | os.PathLike[str] | None, References]):
    """The captions that a system was trained on."""

    in_labels = False

    def check(self, metric: Any, value: Any) -> References:
        if value is None:
            raise ParameterError(
                f"{metric.name} needs the captions that the system was trained on",
                help="give a file of captions: --training FILE (training=FILE in Python)",
            )
        return read_references(value)

    def shown(self, value: References) -> str:
        return training_label(value)


class Novel(MeanMetric):
    """1 for a caption that is not a training caption, 0 for one that is. The corpus score is the mean.

    Captions are the same if their tokens are.

    Raises:
        ParameterError: no training captions.
        InputError: training captions that cannot be read.
    """

    name = "novel"
    summary = "whether a caption is not among the training captions"
    variants: ClassVar[Mapping[str, str]] = {"paper": "captions of equal tokens are the same"}
    needs_references = False

    training: _TrainingCaptions = _TrainingCaptions(
        default=None, summary="captions that the system was trained on: a file that references are read from"
    )

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        captions_of_training = known_captions(self.training, self.tokenizer)
        return (~captions_of_training.has(captions.layer(WordLayer(self.tokenizer))[0])).astype(np.float64)
