"""FENSE and sbert: similarity of sentence vectors, with and without a penalty for fluency errors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError, requesting
from captious.metrics.contract.metric import State
from captious.metrics.contract.parameters import NumberParameter, ResourceParameter
from captious.metrics.shared.arithmetic import combine_references
from captious.metrics.shared.encoder_metric import EncoderMetric, cut_warning
from captious.models.encoders import TextVectors
from captious.models.sentences import (
    DETECTORS,
    ErrorDetector,
    as_error_detector,
    most_tokens,
    sentence_layer,
)

# sbert: cosine of the sentence vectors of candidate and references, by any sentence encoder.
#
# Reimers and Gurevych 2019 (Sentence-BERT); as a metric of captions in Zhou et al. 2022 (FENSE), whose code gives the
# mean over references.


class Sbert(EncoderMetric):
    """Cosine with the references, -1 to 1, higher is better: ``sbert`` is their mean, ``sbert-best`` the largest.

    The corpus score is the mean of caption scores.

    Raises:
        ResourceError: a model that cannot be read, or that is not a sentence encoder.
    """

    name = "sbert"
    outputs: tuple[str, ...] = ("sbert", "sbert-best")
    bounds = (-1.0, 1.0)
    summary = "cosine of sentence vectors, mean and best reference"
    variants = {"official": "FENSE's code without its error detector"}
    default_models = ("sentence-transformers/paraphrase-TinyBERT-L6-v2",)

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return self.cosines(captions)

    def cosines(self, captions: Captions) -> NDArray[np.float64]:
        """Return the mean cosine with the references, and the largest, float64[n, 2]."""
        candidates, references = self._layers(captions)
        offsets = captions.references.offsets
        candidate_rows = np.repeat(np.arange(len(captions)), np.diff(offsets))
        cosines = np.einsum("nd,nd->n", candidates.vectors[candidate_rows], references.vectors, dtype=np.float64)
        return np.stack([combine_references(combine, cosines, offsets) for combine in ("mean", "max")], axis=1)

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        sides = zip(self._layers(captions), ("candidate", "reference"), strict=True)
        most = most_tokens(self.encoder)
        return [text for side, what in sides for text in cut_warning(side.cut, what, self.encoder.name, most)]

    def _layers(self, captions: Captions) -> tuple[TextVectors, TextVectors]:
        return captions.layer(sentence_layer(self.encoder))


# FENSE: similarity of sentence vectors, reduced if the candidate has a fluency error.
#
# Zhou, Zhang, Xie, Xu and Zhu 2022, "Can audio captions be evaluated with image caption metrics?". The official variant
# is the code of its authors, as aac-metrics runs it.


class DetectorParameter(ResourceParameter[ErrorDetector | str | os.PathLike[str] | None, ErrorDetector]):
    """The error detector, which has no default, as the published one is on no hub."""

    required = True

    def __init__(self, *, default: None = None) -> None:
        super().__init__(default=default, summary="error detector: FENSE's checkpoint file, or a sequence classifier")

    def check(self, metric: Any, value: Any) -> ErrorDetector:
        if value is None:
            raise ParameterError(
                f"{metric.name} needs an error detector",
                hint=f"give a checkpoint of FENSE, such as {DETECTORS}, or a sequence classifier: "
                f"{requesting(f'{metric.name}:detector=FILE')}",
            )
        return as_error_detector(value)


def has_error(detector: ErrorDetector, threshold: float, captions: Sequence[str]) -> NDArray[np.float64]:
    """Return 1 for each caption in which the detector finds an error, else 0: float64[n]."""
    return (detector.probabilities(captions) > threshold).astype(np.float64)


class Fense(Sbert):
    """FENSE, -1 to 1, higher is better: ``sbert``, reduced to a tenth by an error. The corpus score is the mean.

    ``fense-error`` is the share of candidates with an error.

    Raises:
        ParameterError: no error detector.
        ResourceError: a model or detector that cannot be read.
    """

    name = "fense"
    outputs = ("fense", "fense-error")
    lower_is_better = frozenset({"fense-error"})
    summary = "cosine of sentence vectors, cut where the candidate has a fluency error"
    variants = {"official": "FENSE's code: mean over references, errors of its detector"}

    detector: DetectorParameter = DetectorParameter()
    threshold: NumberParameter[float] = NumberParameter(
        default=0.9, least=0, most=1, summary="probability above which a caption has an error"
    )
    penalty: NumberParameter[float] = NumberParameter(
        default=0.9, least=0, most=1, summary="share of the score that an error costs"
    )

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        errors = has_error(self.detector, self.threshold, captions.candidates)
        return np.stack([self.cosines(captions)[:, 0] * (1 - self.penalty * errors), errors], axis=1)
