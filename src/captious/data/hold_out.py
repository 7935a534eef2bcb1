"""Human captions as candidates: one reference of each image is held out, and the others remain references."""

from __future__ import annotations

import numpy as np

from captious.data.captions import Captions, References
from captious.errors import ParameterError


def hold_out(references: References, seed: int) -> tuple[Captions, int]:
    """Hold out one random reference per image as the candidate; also count the images that have only one.

    Raises:
        ParameterError: no image has two or more references.
    """
    starts, ends = references.offsets[:-1], references.offsets[1:]
    counts = ends - starts
    candidate_rows = starts + np.random.default_rng(seed).integers(0, counts)
    several = np.flatnonzero(counts > 1)
    if not several.size:
        raise ParameterError(
            "no image has two or more references",
            where=references.name,
            help="one reference is held out and scored against the rest; to avoid this, give human captions",
        )
    rows = [row for image in several for row in range(starts[image], ends[image]) if row != candidate_rows[image]]
    remaining = References(
        tuple(references.ids[image] for image in several),
        tuple(references.texts[row] for row in rows),
        np.concatenate([[0], np.cumsum(counts[several] - 1)]),
        name=references.name,
        id_form=references.id_form,
        images=tuple(references.images[image] for image in several),
    )
    candidates = tuple(references.texts[row] for row in candidate_rows[several])
    return Captions(candidates, remaining), len(references) - len(several)
