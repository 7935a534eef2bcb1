"""Novel: the share of candidates that are not among the captions that the system was trained on.

Papers on diversity report it as a percentage (Shetty et al. 2017; Wang and Chan 2019). `language_eval` of
self-critical.pytorch divides the number of distinct novel captions by that of all captions, which is not a mean over
images; a report of several candidates per image shows that number, too (``captious.evaluation.description``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, read_references
from captious.errors import ParameterError
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.shared.training_captions import known_captions, training_label
from captious.text import Tokenizer, WordLayer

__all__ = ["Novel"]


class Novel(MeanMetric):
    """1 for a caption that is not a training caption, 0 for one that is. The corpus score is the mean.

    Captions are the same if their tokens are.

    Args:
        training: the captions that the system was trained on: a file or object that references are read from.
        variant, tokenizer: as for every metric.

    Raises:
        ParameterError: no training captions.
        InputError: training captions that cannot be read.
    """

    name = "novel"
    summary = "whether a caption is not among the training captions"
    variants: ClassVar[Mapping[str, str]] = {"paper": "captions of equal tokens are the same"}
    needs_references = False

    def __init__(
        self,
        training: References | str | os.PathLike[str] | None = None,
        *,
        variant: str | None = None,
        tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = "ptb",
    ) -> None:
        super().__init__(variant=variant, tokenizer=tokenizer)
        if training is None:
            raise ParameterError(
                "novel needs the captions that the system was trained on",
                help="give a file of captions: --training FILE (training=FILE in Python)",
            )
        self.training = read_references(training)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "training": self._label}

    @cached_property
    def _label(self) -> str:
        return training_label(self.training)

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        known = known_captions(self.training, self.tokenizer)
        return (~known.has(captions.layer(WordLayer(self.tokenizer))[0])).astype(np.float64)
