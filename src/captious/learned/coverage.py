"""coverage: mutual coverage of the sentences of long captions and references, by the metric ``concur``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import References
from captious.learned.caption_features import EncodedReferences, features
from captious.learned.caption_weights import CaptionWeights
from captious.learned.concur import Concur
from captious.metrics.contract.metric import State
from captious.metrics.contract.parameters import ResourceParameter
from captious.metrics.shared.coverage import PairScores, SentenceCoverage


class Coverage(SentenceCoverage):
    """Mutual coverage of the sentences of a candidate and of its references, 0 to 1, higher is better.

    ``coverage-p`` is the mean over the candidate's sentences of their best score with any sentence of the references;
    ``coverage-r`` is the mean over the sentences of a reference of their best score with any of the candidate's, and
    then over references; ``coverage`` is the harmonic mean. The corpus score is the mean.

    Raises:
        ResourceError: unusable weights.
    """

    name = "coverage"
    english_only = True
    outputs = ("coverage", "coverage-p", "coverage-r")
    summary = "sentences of long captions that are supported, and sentences of references that are covered"
    variants: ClassVar[Mapping[str, str]] = {"light": "pairs of sentences by concur@light"}

    weights: ResourceParameter[CaptionWeights | str | os.PathLike[str] | None, Any] = ResourceParameter(
        default=None, summary="weights of concur@light; none for those of the package"
    )

    def setup(self) -> None:
        self.concur = Concur(variant="light", tokenizer=self.tokenizer, weights=self.weights)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**self.concur.parameters, "variant": self.variant}

    def pair_scores(self, sentences: References, state: State | None) -> PairScores:
        encoded = sentences.layer(self.concur.layer).captions

        def of_pairs(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
            references = EncodedReferences(encoded.take(second), np.arange(len(second) + 1))
            return self.concur.of_features(features(encoded.take(first), references, self.concur.weights))

        return of_pairs
