"""SMURF: semantics, style and grammar of a caption together, each standardised by captions that people wrote.

Feinglass and Yang 2021, equation 12, and the authors' code, which takes the average where the paper takes the sum.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.base import MeanMetric, Settings, State
from captious.metrics.mima import Mima
from captious.metrics.ranges import LARGE, number
from captious.metrics.smurf_constants import PUBLISHED, SmurfConstants
from captious.metrics.sparcs import Sparcs
from captious.metrics.spurts import Spurts
from captious.models import Encoder

__all__ = ["THRESHOLD", "Parts", "Smurf", "fuse", "grammar_penalty"]

#: SPARCS, SPURTS and MIMA, float64[n] each.
Parts: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

#: Below so many standard deviations a caption is an outlier among those of people.
THRESHOLD = -1.96


class Smurf(MeanMetric):
    """SPARCS, and on top a reward for style and a penalty for outlying grammar, in standard deviations of people's
    captions; any number, more is better. The corpus score is the mean.

    Args:
        mima_encoder, spurts_encoder: the models of MIMA and of SPURTS, or their names or folders; by default theirs.
        constants: what the parts are standardised by, or the file of 'captious smurf calibrate'; by default as
            published, which holds for the default models.
        threshold: from where on, in standard deviations, style is rewarded and grammar is not penalised; captions
            whose SPARCS is below get no reward for style.
        variant: see ``variants``.

    Raises:
        ParameterError: a threshold outside of -1,000,000 to 1,000,000.
    """

    name = "smurf"
    summary = "semantics, style and grammar, each standardised by captions that people wrote"
    default_models = (*Mima.default_models, *Spurts.default_models)
    variants: ClassVar[Mapping[str, str]] = {
        "official": "the authors' code: the average of the parts that count",
        "paper": "their sum",
    }

    def __init__(
        self,
        mima_encoder: Encoder | str | None = None,
        spurts_encoder: Encoder | str | None = None,
        *,
        constants: SmurfConstants | str | os.PathLike[str] = PUBLISHED,
        threshold: float = THRESHOLD,
        variant: str | None = None,
    ) -> None:
        super().__init__(variant=variant)
        self.sparcs = Sparcs()
        self.mima, self.spurts = Mima(mima_encoder), Spurts(spurts_encoder)
        self.constants = constants if isinstance(constants, SmurfConstants) else SmurfConstants.load(constants)
        self.threshold = number(self.name, "threshold", threshold, -LARGE, LARGE)

    @classmethod
    def from_settings(cls, settings: Settings, *, variant: str | None = None, **parameters: Any) -> Smurf:
        """One model for a run is the model of both MIMA and SPURTS."""
        encoders = {"mima_encoder": settings.encoder, "spurts_encoder": settings.encoder}
        return cls(**{**encoders, **parameters}, variant=variant)

    @classmethod
    def missing(cls) -> str | None:
        return Mima.missing()

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

    @property
    def uses_model(self) -> bool:
        return True

    @property
    def tokens(self) -> str:
        models = dict.fromkeys((self.mima.encoder.name, self.spurts.encoder.name))
        return ", ".join((self.sparcs.tokenizer.name, *models))

    def parts(self, captions: Captions) -> Parts:
        """SPARCS, SPURTS and MIMA of each caption."""
        return self.sparcs.scores(captions), self.spurts.scores(captions), self.mima.scores(captions)

    def standardised(self, captions: Captions) -> Parts:
        """The same in standard deviations from the mean of people's captions."""
        return self.constants.standardised(*self.parts(captions))

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return fuse(*self.standardised(captions), self.threshold, average=self.variant == "official")

    def calibrate(self, captions: Captions, name: str, source: str = "") -> SmurfConstants:
        """The constants of captions that people wrote, beside references that do not hold them, with these models."""
        return SmurfConstants.of(
            *self.parts(captions),
            mima_model=self.mima.encoder.label,
            spurts_model=self.spurts.encoder.label,
            name=name,
            source=source,
        )

    def cautions(self, captions: Captions, state: State | None) -> list[str]:
        if self.constants.hold_for(self.mima.encoder.label, self.spurts.encoder.label):
            return []
        return [
            f"smurf is standardised by {self.constants.name}, which was computed with other models: "
            "captious smurf calibrate computes constants for these."
        ]


def fuse(
    sparcs: NDArray[np.float64],
    spurts: NDArray[np.float64],
    mima: NDArray[np.float64],
    threshold: float = THRESHOLD,
    *,
    average: bool = True,
) -> NDArray[np.float64]:
    """SMURF from its standardised parts, float64[n] each.

    Args:
        threshold: T. The reward for style is what SPURTS has above T, the penalty for grammar what MIMA lacks to T; a
            caption whose SPARCS is below T gets no reward.
        average: divide by the number of parts that count, 3, or 2 for a caption without reward.
    """
    counts = sparcs >= threshold
    reward = np.where(counts, np.maximum(spurts - threshold, 0), 0)
    total = sparcs + reward + grammar_penalty(mima, threshold)
    return np.asarray(total / np.where(counts, 3, 2) if average else total)


def grammar_penalty(mima: NDArray[np.float64], threshold: float = THRESHOLD) -> NDArray[np.float64]:
    """What standardised MIMA lacks to the threshold, 0 or less, float64[n]."""
    return np.minimum(mima - threshold, 0)
