"""What studies read: benchmarks whose captions can be scored, systems beside people, and files with their checksums."""

from __future__ import annotations

import math
import os
from collections.abc import Collection
from pathlib import Path

from captious.errors import ParameterError
from captious.files import checksum
from captious.judgment.judging import load_judgments
from captious.judgment.judgments import PEOPLE, CaptionPairs, HumanJudgments, RatedCaptions
from captious.words import counted


def judged_captions(
    benchmark: str | os.PathLike[str] | HumanJudgments, data: str | os.PathLike[str] | None
) -> RatedCaptions | CaptionPairs:
    """Return the judgments of a benchmark of captions.

    Raises:
        ParameterError: a benchmark of systems.
        Others as ``judge``, about benchmarks and data.
    """
    judgments = benchmark if isinstance(benchmark, HumanJudgments) else load_judgments(benchmark, data)
    if not isinstance(judgments, RatedCaptions | CaptionPairs):
        raise ParameterError(
            f"{judgments.protocol.benchmark} judges systems, not captions",
            where=judgments.protocol.full_name,
            hint="this study needs a benchmark of captions, such as composite or flickr8k-expert",
        )
    return judgments


def check_systems(systems: Collection[str], *, required: bool = True) -> None:
    """Check the names of systems that a study compares with human captions.

    Raises:
        ParameterError: no systems, if they are required; one named ``PEOPLE``.
    """
    if required and not systems:
        raise ParameterError("there are no systems", hint="give the captions of a system")
    if PEOPLE in systems:
        raise ParameterError(f"a system is called {PEOPLE}", hint=f"rename it: {PEOPLE} is reserved for human captions")


def checksums(*sources: object) -> dict[str, str]:
    """Return the CRC-32 of sources that are files: name -> eight hex digits."""
    files = [Path(source) for source in sources if isinstance(source, str | os.PathLike)]
    return {file.name: checksum(file.read_bytes()) for file in files}


def name_of_file(source: object, otherwise: str) -> str:
    """Return the name of a source of captions in titles."""
    return Path(source).name if isinstance(source, str | os.PathLike) else otherwise


def excluded(left_out: int) -> list[str]:
    """Return a note about images with a single reference, if there are any; they have none to hold out."""
    return [f"Excluded: {counted(left_out, 'image')} with a single reference."] if left_out else []


def defined(value: float) -> float | None:
    """Return a number, or None for one that is undefined, such as the correlation of a constant."""
    return float(value) if math.isfinite(value) else None
