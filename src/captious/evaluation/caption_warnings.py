"""Warnings about small numbers of images and references, and the function that issues warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from captious.data import References
from captious.errors import CaptiousWarning

#: Sentences that were issued in this process.
issued: set[str] = set()
#: Fewer images than these are too few for intervals and tests.
FEW_IMAGES = 10


def issue(sentences: Iterable[str]) -> None:
    """Issue warnings, attributed to the caller's caller, each wording once per process.

    Python's own filters would repeat them in every cell of a notebook.
    """
    for sentence in sentences:
        if sentence not in issued:
            issued.add(sentence)
            warnings.warn(sentence, CaptiousWarning, stacklevel=3)


def few_images_warning(n: int) -> list[str]:
    """Return a warning if n images are too few for intervals and tests."""
    if n >= FEW_IMAGES:
        return []
    return [
        f"too few images for intervals and tests ({n}): resamples of so few images vary little, so intervals are too "
        "narrow and p values too small."
    ]


def single_reference_warning(references: References) -> list[str]:
    """Return a warning if every image has only one reference."""
    if len(references.texts) != len(references):
        return []
    return ["every image has only one caption: are these references, or the candidates of a system?"]
