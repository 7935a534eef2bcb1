"""What SMURF standardizes its parts by: their means and standard deviations over human captions."""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.atomic_write import whole_file
from captious.errors import ParameterError, ResourceError

__all__ = ["PUBLISHED", "SmurfConstants"]

_PARTS = ("sparcs", "spurts", "mima")
_HELP = "create it again: captious fit smurf REFERENCES -o FILE"


@dataclass(frozen=True)
class SmurfConstants:
    """Means and population standard deviations of the parts over human captions.

    Args:
        sparcs, spurts, mima: mean and standard deviation of each.
        mima_model, spurts_model: the models that they hold for, as signatures call them; without a version, any
            version.
        name: what signatures call them.
        source: which captions they were computed from.

    Raises:
        ParameterError: a standard deviation that is not above 0, or a number that is not finite.
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
        """The constants of scores of human captions, float64[n] each."""
        if not len(sparcs):
            raise ParameterError(
                "there are no captions to compute constants from", where=source, help="give one or more captions"
            )
        return cls(_moments(sparcs), _moments(spurts), _moments(mima), mima_model, spurts_model, name, source)

    @property
    def label(self) -> str:
        """What signatures call them: the name, and a checksum of the numbers."""
        numbers = np.array([getattr(self, part) for part in _PARTS])
        return f"{self.name}@{zlib.crc32(numbers.astype('<f8').tobytes()):08x}"

    @property
    def contents(self) -> str:
        """What they are, in a few words."""
        return f"{self.label}, {self.source}"

    def standardized(
        self, sparcs: NDArray[np.float64], spurts: NDArray[np.float64], mima: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Scores in standard deviations from the mean of human captions."""
        (a, s), (b, t), (c, u) = self.sparcs, self.spurts, self.mima
        return (sparcs - a) / s, (spurts - b) / t, (mima - c) / u

    def hold_for(self, mima_model: str, spurts_model: str) -> bool:
        """Whether the constants were computed with these models."""
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
        """Read what ``save`` wrote.

        Raises:
            ResourceError: no such file, or not a file of constants.
        """
        try:
            content: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
            for part in _PARTS:
                mean, deviation = content[part]
                content[part] = float(mean), float(deviation)
            return cls(**content)
        except OSError as error:
            raise ResourceError(f"cannot read constants: {error.strerror}", where=str(path), help=_HELP) from error
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ResourceError("not a file of SMURF constants", where=str(path), help=_HELP) from error


def as_constants(constants: SmurfConstants | str | os.PathLike[str]) -> SmurfConstants:
    """The constants, or those of a file."""
    return constants if isinstance(constants, SmurfConstants) else SmurfConstants.load(constants)


def _moments(scores: NDArray[np.float64]) -> tuple[float, float]:
    return float(scores.mean()), float(scores.std())


#: Those of the publication, from the authors' repository.
PUBLISHED = SmurfConstants(
    sparcs=(0.400853, 0.171832),
    spurts=(0.402463, 0.052658),
    mima=(0.489233, 0.035721),
    mima_model="distilbert-base-uncased",
    spurts_model="distilroberta-base",
    name="karpathy-test",
    source="one human caption per image of the Karpathy test split (5,000), with four others as its references",
)
