"""Similar images, by their references or by image features, and captions of similar images."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import References
from captious.errors import ParameterError
from captious.models.image_features import ImageFeatures
from captious.text import PTB, TokenLayer

#: Images are near if their references have the same words.
CAPTIONS = "captions"
_ROWS = 500  # images that are compared with all others at a time


def image_vectors(references: References, near: str | os.PathLike[str]) -> Any:
    """Return vectors of length 1 of the images, float64[n, width], sparse or dense.

    Args:
        references: the references of the images.
        near: "captions", for the TF-IDF weights of the words of an image's references; or a file of image features.

    Raises:
        ParameterError: an image has no features.
        Others as for reading image features.
    """
    if near == CAPTIONS:
        return _word_features(references)
    vectors = ImageFeatures.load(near).vectors_of(references.ids).astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not lengths.all():
        raise ParameterError("an image has features that are all 0", where=str(near), help="compute its features")
    return vectors / lengths


def _word_features(references: References) -> Any:
    from scipy.sparse import csr_array, diags_array

    tokens = references.layer(TokenLayer(PTB))
    starts = tokens.offsets[references.offsets]
    counts = csr_array(
        (np.ones(len(tokens.ids)), tokens.ids, starts), shape=(len(references), len(tokens.vocabulary.words()))
    )
    counts.sum_duplicates()
    images_with = np.bincount(counts.indices, minlength=counts.shape[1])
    weights = counts @ diags_array(np.log(len(references) / np.maximum(images_with, 1)))
    lengths = np.sqrt(np.asarray((weights * weights).sum(axis=1)).ravel())
    return csr_array(diags_array(1 / np.maximum(lengths, 1e-12)) @ weights)


def near_donors(vectors: Any, shares: Sequence[float], rng: np.random.Generator) -> dict[float, NDArray[np.int64]]:
    """Draw, for each share and every image, one of the nearest images: that share of the others.

    Args:
        vectors: float64[n, width], of length 1; n is 2 or more.
        shares: shares of the other images, above 0 and up to 1; at least one image is considered.
        rng: random generator, which draws one number per image for all shares.

    Returns:
        share -> int64[n], never the image itself.
    """
    n = vectors.shape[0]
    draws = rng.random(n)
    donors = {share: np.empty(n, np.int64) for share in shares}
    for start in range(0, n, _ROWS):
        rows = np.arange(start, min(start + _ROWS, n))
        alike = vectors[rows] @ vectors.T
        dense = np.asarray(alike.todense() if hasattr(alike, "todense") else alike)
        dense[np.arange(len(rows)), rows] = -np.inf
        nearest = np.argsort(-dense, axis=1, kind="stable")
        for share in shares:
            among = max(1, round(share * (n - 1)))
            donors[share][rows] = nearest[np.arange(len(rows)), (draws[rows] * among).astype(np.int64)]
    return donors
