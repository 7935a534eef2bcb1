"""Triplets of PASCAL-50S and ABSTRACT-50S as published by Vedantam et al. 2015, in MATLAB files.

A triplet is a reference A, two captions B and C, and the one that a person found more similar to A: 1 for B, -1 for C.
Every pair of captions has forty-eight consecutive triplets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from captious.judgment.files.judgment_files import DataFolder

#: Triplets of a pair.
PER_PAIR = 48


@dataclass(frozen=True)
class Consensus:
    """A pair of captions with the votes on it.

    Args:
        captions: both captions.
        references: the references that people compared them with, one per vote.
        preferred: index of the caption with more votes, 0 or 1; None for a tie.
    """

    captions: tuple[str, str]
    references: Sequence[str]
    preferred: int | None


def read_consensus(folder: DataFolder, name: str) -> list[Consensus]:
    """Read the pairs in a file of triplets, in order.

    Raises:
        ResourceError: there is no such file.
        CaptionFileError: it is not a MATLAB file, has no triplets, or they are not grouped by pair.
    """
    content = folder.matlab(name)
    if "triplets" not in content:
        raise folder.error("no triplets in this file", name)
    triplets = [tuple(first_of(value) for value in triplet) for triplet in content["triplets"].ravel().tolist()]
    if len(triplets) % PER_PAIR:
        raise folder.error(f"the number of triplets, {len(triplets):,}, is not a multiple of {PER_PAIR}", name)
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
    """Return the value in a cell or an array with one element."""
    while isinstance(value, np.ndarray | np.void | tuple):
        value = value[0] if isinstance(value, np.void | tuple) else value.ravel()[0]
    return value
