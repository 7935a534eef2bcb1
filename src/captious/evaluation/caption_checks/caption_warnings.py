"""Warnings about small numbers of images and references, warnings of several systems, and their issue."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

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


def warnings_by_system(warnings: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return the warnings of systems, each once; those of only some systems begin with the names of these.

    Args:
        warnings: name and warnings of each system.
    """
    systems: dict[str, list[str]] = {}
    for system, sentences in warnings:
        for sentence in dict.fromkeys(sentences):
            systems.setdefault(sentence, []).append(system)
    return [
        sentence if len(names) == len(warnings) else type(sentence)(f"{', '.join(names)}: {sentence}")
        for sentence, names in systems.items()
    ]


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
