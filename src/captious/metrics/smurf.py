"""SMURF: semantics, style and grammar of a caption, each standardized by human captions, combined.

Feinglass and Yang 2021, equation 12, and the authors' code, which uses the average instead of the paper's sum.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.data.hold_out import hold_out
from captious.errors import ParameterError, ResourceError
from captious.files.atomic_write import whole_file
from captious.files.checksum import checksum
from captious.files.decompression import user_text
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.parameters import NumberParameter, ResourceParameter
from captious.metrics.mima import Mima
from captious.metrics.shared.encoder_metric import OptionalEncoder
from captious.metrics.sparcs import Sparcs
from captious.metrics.spurts import Spurts
from captious.phrases import counted
from captious.random_seed import DEFAULT_SEED

_PARTS = ("sparcs", "spurts", "mima")
_HELP = "create it again: captious fit smurf REFERENCES -o FILE"


@dataclass(frozen=True)
class SmurfConstants:
    """Means and population standard deviations of the parts over human captions.

    Args:
        sparcs, spurts, mima: mean and standard deviation of each.
        mima_model, spurts_model: names of their models in signatures; without a version, any version.
        name: name in signatures.
        source: the captions that they were computed from.

    Raises:
        ParameterError: a standard deviation that is not positive, or a number that is not finite.
    """

    sparcs: tuple[float, float]
    spurts: tuple[float, float]
    mima: tuple[float, float]
    mima_model: str
    spurts_model: str
    name: str
    source: str = ""

    def __post_init__(self) -> None:
        for part in _PARTS:
            mean, deviation = getattr(self, part)
            if not (isfinite(mean) and isfinite(deviation) and deviation > 0):
                raise ParameterError(
                    f"{part} cannot be standardized with mean {mean:g} and standard deviation {deviation:g}",
                    where=f"{self.name}: {self.source}",
                    help="compute them from human captions of many images",
                )

    @classmethod
    def of(
        cls,
        sparcs: NDArray[np.float64],
        spurts: NDArray[np.float64],
        mima: NDArray[np.float64],
        *,
        mima_model: str,
        spurts_model: str,
        name: str,
        source: str = "",
    ) -> SmurfConstants:
        """Compute the constants from scores of human captions, float64[n] each."""
        if not len(sparcs):
            raise ParameterError(
                "there are no captions to compute constants from", where=source, help="give one or more captions"
            )
        return cls(_moments(sparcs), _moments(spurts), _moments(mima), mima_model, spurts_model, name, source)

    @property
    def label(self) -> str:
        """The constants in signatures: the name, and a checksum of the numbers."""
        numbers = np.array([getattr(self, part) for part in _PARTS])
        return f"{self.name}@{checksum(numbers)}"

    @property
    def contents(self) -> str:
        """A short description."""
        return f"{self.label}, {self.source}"

    def standardized(
        self, sparcs: NDArray[np.float64], spurts: NDArray[np.float64], mima: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return scores in standard deviations from the mean of human captions."""
        (a, s), (b, t), (c, u) = self.sparcs, self.spurts, self.mima
        return (sparcs - a) / s, (spurts - b) / t, (mima - c) / u

    def hold_for(self, mima_model: str, spurts_model: str) -> bool:
        """Return whether the constants were computed with these models."""
        pairs = ((self.mima_model, mima_model), (self.spurts_model, spurts_model))
        return all(published in (model, model.partition("@")[0]) for published, model in pairs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write them as JSON.

        Raises:
            OutputError: the file cannot be written.
        """
        with whole_file(path) as file:
            file.write(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SmurfConstants:
        """Read a file written by ``save``.

        Raises:
            ResourceError: no such file, or not a file of constants.
        """
        try:
            content: dict[str, Any] = json.loads(user_text(path, "constants", _HELP))
            for part in _PARTS:
                mean, deviation = content[part]
                content[part] = float(mean), float(deviation)
            return cls(**content)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ResourceError("not a file of SMURF constants", where=str(path), help=_HELP) from error


def as_constants(constants: SmurfConstants | str | os.PathLike[str]) -> SmurfConstants:
    """Return constants, or read them from a file."""
    return constants if isinstance(constants, SmurfConstants) else SmurfConstants.load(constants)


def _moments(scores: NDArray[np.float64]) -> tuple[float, float]:
    return float(scores.mean()), float(scores.std())


#: The published values, from the authors' repository.
PUBLISHED = SmurfConstants(
    sparcs=(0.400853, 0.171832),
    spurts=(0.402463, 0.052658),
    mima=(0.489233, 0.035721),
    mima_model="distilbert-base-uncased",
    spurts_model="distilroberta-base",
    name="karpathy-test",
    source="one human caption per image of the Karpathy test split (5,000), with four others as its references",
)


#: SPARCS, SPURTS and MIMA, float64[n] each.
Parts: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

#: The threshold in standard deviations: a caption below it is an outlier among human captions.
THRESHOLD = -1.96


class Smurf(Combined):
    """SPARCS plus a reward for style and a penalty for unusual grammar, in standard deviations of human
    captions; any real number, higher is better. The corpus score is the mean.
    """

    name = "smurf"
    english_only = True
    fitted_resource = "constants that its parts are standardized with"
    summary = "semantics, style and grammar, each standardized with human captions"
    without_parameters = frozenset({"tokenizer"})
    part_classes = (Sparcs, Spurts, Mima)
    default_models = (*Mima.default_models, *Spurts.default_models)
    variants: ClassVar[Mapping[str, str]] = {
        "official": "the authors' code: the average of the parts that count",
        "paper": "their sum",
    }

    model: OptionalEncoder = OptionalEncoder(
        default=None, summary="model of both MIMA and SPURTS; none for those of the paper"
    )
    mima_model: OptionalEncoder = OptionalEncoder(default=None, summary="model of MIMA alone")
    spurts_model: OptionalEncoder = OptionalEncoder(default=None, summary="model of SPURTS alone")
    constants: ResourceParameter[SmurfConstants | str | os.PathLike[str], SmurfConstants] = ResourceParameter(
        default=PUBLISHED,
        read=as_constants,
        summary="a file that 'captious fit smurf' wrote; valid only for its models",
    )
    threshold: NumberParameter[float] = NumberParameter(
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
        """Return SPARCS, SPURTS and MIMA of each caption, in standard deviations from the mean of human captions."""
        return self.constants.standardized(*self.part_scores(captions).T)

    def combine(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        standardized = self.constants.standardized(*scores.T)
        return fuse(*standardized, self.threshold, average=self.variant == "official")

    def fit_resource(self, references: References, *, seed: int = DEFAULT_SEED) -> SmurfConstants:
        """Return the constants of one random reference of each image, with the others as its references."""
        people, _ = hold_out(references, seed)
        images = counted(len(people), "image")
        source = f"one reference per image of {references.name}, with the others as references; {images}"
        return self.calibrate(people, Path(references.name).name.partition(".")[0], source)

    def calibrate(self, captions: Captions, name: str, source: str = "") -> SmurfConstants:
        """Return the constants of human captions that are not among their own references, with these models."""
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
    """Combine standardized parts, float64[n] each.

    Args:
        threshold: T. The reward for style is the excess of SPURTS over T, the penalty for grammar the shortfall of MIMA
            below T; a caption whose SPARCS is below T gets no reward.
        average: divide by the number of parts that count, 3, or 2 for a caption without reward.
    """
    counts = sparcs >= threshold
    reward = np.where(counts, np.maximum(spurts - threshold, 0), 0)
    total = sparcs + reward + grammar_penalty(mima, threshold)
    return np.asarray(total / np.where(counts, 3, 2) if average else total)


def grammar_penalty(mima: NDArray[np.float64], threshold: float = THRESHOLD) -> NDArray[np.float64]:
    """Return standardized MIMA minus the threshold if it is below, otherwise 0, float64[n]."""
    return np.minimum(mima - threshold, 0)
