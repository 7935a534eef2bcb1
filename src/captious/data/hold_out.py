"""Human captions as candidates: one reference of each image is held out, and the others stay its references."""

from __future__ import annotations

import numpy as np

from captious.data.captions import Captions, References
from captious.errors import ParameterError


def hold_out(references: References, seed: int) -> tuple[Captions, int]:
    """Hold out one random reference per image as the candidate; also count the images that have only one.

    Raises:
        ParameterError: no image has two or more references.
    """
    starts, counts = references.offsets[:-1], np.diff(references.offsets)
    drawn = starts + np.random.default_rng(seed).integers(0, counts)
    several = np.flatnonzero(counts > 1)
    if not several.size:
        raise ParameterError(
            "no image has two or more references",
            where=references.name,
            help="one reference is held out and scored against the rest; to avoid this, give human captions",
        )
    kept = [i for image in several for i in range(starts[image], starts[image] + counts[image]) if i != drawn[image]]
    rest = References(
        tuple(references.ids[image] for image in several),
        tuple(references.texts[i] for i in kept),
        np.concatenate([[0], np.cumsum(counts[several] - 1)]),
        name=references.name,
        id_form=references.id_form,
        images=tuple(references.images[image] for image in several),
    )
    return Captions(tuple(references.texts[i] for i in drawn[several]), rest), len(references) - len(several)
