"""Triplets of PASCAL-50S and ABSTRACT-50S as Vedantam et al. 2015 publish them, in files of MATLAB.

A triplet is a reference A, two captions B and C, and which of the two a person found more similar to A: 1 for B, -1 for
C. Forty-eight triplets follow each other for every pair of captions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from captious.judgment.judgment_files import DataFolder

#: Triplets of a pair.
PER_PAIR = 48


@dataclass(frozen=True)
class Consensus:
    """A pair of captions with the votes on it.

    Args:
        captions: both.
        references: those that people compared them with, one per vote.
        preferred: 0 or 1, which caption has more votes; None for a tie.
    """

    captions: tuple[str, str]
    references: Sequence[str]
    preferred: int | None


def read_consensus(folder: DataFolder, name: str) -> list[Consensus]:
    """The pairs in a file of triplets, in its order.

    Raises:
        ResourceError: there is no such file.
        CaptionFileError: it is not a file of MATLAB, has no triplets, or they are not in groups of pairs.
    """
    content = folder.matlab(name)
    if "triplets" not in content:
        raise folder.error("no triplets in this file", name)
    triplets = [tuple(first_of(value) for value in triplet) for triplet in content["triplets"].ravel().tolist()]
    if len(triplets) % PER_PAIR:
        raise folder.error(f"{len(triplets):,} triplets are not a multiple of {PER_PAIR}", name)
    pairs = []
    for start in range(0, len(triplets), PER_PAIR):
        group = triplets[start : start + PER_PAIR]
        if len({(str(b).strip(), str(c).strip()) for _, b, c, _ in group}) > 1:
            raise folder.error("these triplets are of several pairs", name, f"triplets from {start + 1}")
        votes = sum(int(vote) for *_, vote in group)
        pairs.append(
            Consensus(
                (str(group[0][1]).strip(), str(group[0][2]).strip()),
                [str(a).strip() for a, *_ in group],
                None if votes == 0 else int(votes < 0),
            )
        )
    return pairs


def first_of(value: Any) -> Any:
    """The value in a cell or an array with one element."""
    while isinstance(value, np.ndarray | np.void | tuple):
        value = value[0] if isinstance(value, np.void | tuple) else value.ravel()[0]
    return value
