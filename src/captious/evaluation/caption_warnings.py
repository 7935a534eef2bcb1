"""Warnings about captions whose scores are valid but may be misleading."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from captious.data import Captions, CaptionSets, References
from captious.errors import CaptiousWarning

__all__ = [
    "FEW_IMAGES",
    "CaptionCounts",
    "CaptiousWarning",
    "caption_warnings",
    "few_images",
    "issue",
    "single_captions",
]

_COPIES = 0.1
_issued: set[str] = set()
#: Fewer images than these are too few for intervals and tests.
FEW_IMAGES = 10


@dataclass(frozen=True)
class CaptionCounts:
    """What warnings about captions need to know; counts of parts add up.

    Args:
        n: number of captions.
        references: number of their references.
        most_references: the most references of an image.
        copies: candidates that are copies of a reference of their image.
    """

    n: int = 0
    references: int = 0
    most_references: int = 0
    copies: int = 0

    @classmethod
    def of(cls, captions: Captions | CaptionSets) -> CaptionCounts:
        """Count captions."""
        references = captions.references
        if isinstance(captions, CaptionSets):
            candidates, images = captions.candidates.texts, np.repeat(np.arange(len(captions)), captions.counts)
        else:
            candidates, images = captions.candidates, np.arange(len(captions))
        offsets = references.offsets.tolist()
        copies = sum(
            candidate in references.texts[offsets[i] : offsets[i + 1]]
            for i, candidate in zip(images.tolist(), candidates, strict=True)
        )
        most = int(np.diff(references.offsets).max(initial=0))
        return cls(len(candidates), len(references.texts), most, copies)

    def __add__(self, other: CaptionCounts) -> CaptionCounts:
        return CaptionCounts(
            self.n + other.n,
            self.references + other.references,
            max(self.most_references, other.most_references),
            self.copies + other.copies,
        )

    def to_dict(self) -> dict[str, int]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> CaptionCounts:
        """Read what ``to_dict`` gave."""
        return cls(*(int(document[name]) for name in ("n", "references", "most_references", "copies")))

    @property
    def warnings(self) -> list[str]:
        """Warnings about the captions themselves, one sentence each."""
        warnings = []
        if self.most_references == 1 and self.n > 1:
            warnings.append(
                "every image has only one reference: caption metrics expect about five, and scores with one cannot be "
                "compared with published ones."
            )
        if self.copies > max(_COPIES * self.n, 1):
            warnings.append(
                f"{self.copies:,} of {self.n:,} candidates are copies of a reference of their image: "
                "are the candidates included in their own references?"
            )
        return warnings


def caption_warnings(captions: Captions | CaptionSets) -> list[str]:
    """Warnings about the captions themselves, one sentence each."""
    return CaptionCounts.of(captions).warnings


def issue(sentences: Iterable[str]) -> None:
    """Issue warnings to the caller of the function that calls this one, each wording once per process.

    Python's own filters would repeat them in every cell of a notebook.
    """
    for sentence in sentences:
        if sentence not in _issued:
            _issued.add(sentence)
            warnings.warn(sentence, CaptiousWarning, stacklevel=3)


def few_images(n: int) -> list[str]:
    """A warning if n images are too few for intervals and tests."""
    if n >= FEW_IMAGES:
        return []
    return [
        f"too few images for intervals and tests ({n}): resamples of so few images vary little, so intervals are too "
        "narrow and p values too small."
    ]


def single_captions(references: References) -> list[str]:
    """A warning if every image has only one reference."""
    if len(references.texts) != len(references):
        return []
    return ["every image has only one caption: are these references, or the candidates of a system?"]
