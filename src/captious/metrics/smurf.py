"""SMURF: semantics, style and grammar of a caption together, each standardized by human captions.

Feinglass and Yang 2021, equation 12, and the authors' code, which takes the average where the paper takes the sum.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.data.hold_out import hold_out
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.parameters import Number, Resource
from captious.metrics.mima import Mima
from captious.metrics.shared.smurf_constants import PUBLISHED, SmurfConstants, as_constants
from captious.metrics.sparcs import Sparcs
from captious.metrics.spurts import Spurts
from captious.models import Encoder
from captious.models.encoders import as_encoder
from captious.random_seed import DEFAULT_SEED

__all__ = ["THRESHOLD", "Parts", "Smurf", "fuse", "grammar_penalty"]

#: SPARCS, SPURTS and MIMA, float64[n] each.
Parts: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

#: The threshold in standard deviations: a caption below it is an outlier among human captions.
THRESHOLD = -1.96


class Smurf(Combined):
    """SPARCS plus a reward for style and a penalty for unusual grammar, in standard deviations of human
    captions; any real number, higher is better. The corpus score is the mean.
    """

    name = "smurf"
    fitted_resource = "constants that its parts are standardized with"
    summary = "semantics, style and grammar, each standardized with human captions"
    without_parameters = frozenset({"tokenizer"})
    part_classes = (Sparcs, Spurts, Mima)
    default_models = (*Mima.default_models, *Spurts.default_models)
    variants: ClassVar[Mapping[str, str]] = {
        "official": "the authors' code: the average of the parts that count",
        "paper": "their sum",
    }

    model: Resource[Encoder | str | None, Encoder | None] = Resource(
        default=None,
        read=as_encoder,
        keep_none=True,
        summary="model of both MIMA and SPURTS; none for those of the paper",
    )
    mima_model: Resource[Encoder | str | None, Encoder | None] = Resource(
        default=None, read=as_encoder, keep_none=True, summary="model of MIMA alone"
    )
    spurts_model: Resource[Encoder | str | None, Encoder | None] = Resource(
        default=None, read=as_encoder, keep_none=True, summary="model of SPURTS alone"
    )
    constants: Resource[SmurfConstants | str | os.PathLike[str], SmurfConstants] = Resource(
        default=PUBLISHED,
        read=as_constants,
        summary="a file that 'captious fit smurf' wrote; valid only for its models",
    )
    threshold: Number[float] = Number(
        default=THRESHOLD,
        summary="in standard deviations: style is rewarded above it, grammar is penalized below it, and captions whose "
        "SPARCS is below it get no reward for style",
    )

    def make_parts(self) -> Sequence[tuple[Metric, str]]:
        self.sparcs = Sparcs()
        self.mima = Mima(model=self.mima_model or self.model)
        self.spurts = Spurts(model=self.spurts_model or self.model)
        return [(self.sparcs, "sparcs"), (self.spurts, "spurts"), (self.mima, "mima")]

    @property
    def parameters(self) -> Mapping[str, object]:
        return {
            "variant": self.variant,
            "tokenizer": self.sparcs.tokenizer.name,
            "mima-model": self.mima.encoder.label,
            "spurts-model": self.spurts.encoder.label,
            "constants": self.constants.label,
            "threshold": self.threshold,
        }

    def standardized(self, captions: Captions) -> Parts:
        """SPARCS, SPURTS and MIMA of each caption, in standard deviations from the mean of human captions."""
        return self.constants.standardized(*self.part_scores(captions).T)

    def combine(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        standardized = self.constants.standardized(*scores.T)
        return fuse(*standardized, self.threshold, average=self.variant == "official")

    def fit_resource(self, references: References, *, seed: int = DEFAULT_SEED) -> SmurfConstants:
        """The constants of one reference of each image, drawn at random, with the others as its references."""
        people, _ = hold_out(references, seed)
        source = f"one reference per image of {references.name}, with the others as references; {len(people):,} images"
        return self.calibrate(people, Path(references.name).name.partition(".")[0], source)

    def calibrate(self, captions: Captions, name: str, source: str = "") -> SmurfConstants:
        """The constants of human captions that are not among their own references, with these models."""
        return SmurfConstants.of(
            *self.part_scores(captions).T,
            mima_model=self.mima.encoder.label,
            spurts_model=self.spurts.encoder.label,
            name=name,
            source=source,
        )

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        if self.constants.hold_for(self.mima.encoder.label, self.spurts.encoder.label):
            return []
        return [
            f"smurf is standardized with {self.constants.name}, which was computed with other models: "
            "run captious fit smurf to compute constants for these models."
        ]


def fuse(
    sparcs: NDArray[np.float64],
    spurts: NDArray[np.float64],
    mima: NDArray[np.float64],
    threshold: float = THRESHOLD,
    *,
    average: bool = True,
) -> NDArray[np.float64]:
    """SMURF from its standardized parts, float64[n] each.

    Args:
        threshold: T. The reward for style is how far SPURTS exceeds T, the penalty for grammar how far MIMA falls below
            T; a caption whose SPARCS is below T gets no reward.
        average: divide by the number of parts that count, 3, or 2 for a caption without reward.
    """
    counts = sparcs >= threshold
    reward = np.where(counts, np.maximum(spurts - threshold, 0), 0)
    total = sparcs + reward + grammar_penalty(mima, threshold)
    return np.asarray(total / np.where(counts, 3, 2) if average else total)


def grammar_penalty(mima: NDArray[np.float64], threshold: float = THRESHOLD) -> NDArray[np.float64]:
    """How far standardized MIMA falls below the threshold, 0 or less, float64[n]."""
    return np.minimum(mima - threshold, 0)
