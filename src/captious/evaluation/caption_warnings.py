"""Warnings about captions whose scores are valid but may be misleading."""

from __future__ import annotations

import numpy as np

from captious.data import Captions
from captious.errors import CaptiousWarning

__all__ = ["FEW_IMAGES", "CaptiousWarning", "caption_warnings", "few_images"]

_COPIES = 0.1
#: Fewer images than these are too few for intervals and tests.
FEW_IMAGES = 10


def caption_warnings(captions: Captions) -> list[str]:
    """Warnings about the captions themselves, one sentence each."""
    found = []
    references = captions.references
    counts = np.diff(references.offsets)
    n = len(captions)
    if counts.max() == 1 and n > 1:
        found.append(
            "every image has only one reference: caption metrics expect about five, and scores with one cannot be "
            "compared with published ones."
        )
    offsets = references.offsets.tolist()
    copies = sum(
        candidate in references.texts[offsets[i] : offsets[i + 1]] for i, candidate in enumerate(captions.candidates)
    )
    if copies > max(_COPIES * n, 1):
        found.append(
            f"{copies:,} of {n:,} candidates are copies of a reference of their image: "
            "are the candidates included in their own references?"
        )
    return found


def few_images(n: int) -> list[str]:
    """A warning if n images are too few for intervals and tests."""
    if n >= FEW_IMAGES:
        return []
    return [
        f"too few images for intervals and tests ({n}): resamples of so few images vary little, so intervals are too "
        "narrow and p values too small."
    ]
