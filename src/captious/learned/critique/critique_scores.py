"""Scores of captions by a critique: the choice of the reference to read with a candidate, and the probability."""

from __future__ import annotations

import zlib
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.learned.critique.critique_weights import CritiqueWeights
from captious.models.image_features import ImageFeatures


def critique_scores(
    trained: CritiqueWeights, captions: Captions, images: ImageFeatures | None, *, seed: int | None
) -> NDArray[np.float64]:
    """Return the probability that a person wrote each candidate, float64[n].

    Args:
        trained: the critique.
        captions: candidates with references.
        images: features of their images; None for critiques without images.
        seed: one random reference of each image is the context; None for the mean over all references.

    Raises:
        ParameterError: an image without features.
    """
    critique, references = trained.critique, captions.references
    features = None if critique.recipe.images == "none" or images is None else images.vectors_of(references.images)
    candidates = trained.sentences(captions.candidates)
    if critique.recipe.images == "only":
        return critique.humans(candidates, None, features)
    if seed is not None:
        texts = tuple(references.texts[row] for row in drawn_references(captions, seed).tolist())
        return critique.humans(candidates, trained.sentences(texts), features)
    counts = np.diff(references.offsets)
    rows = np.repeat(np.arange(len(captions)), counts)
    features = None if features is None else features[rows]
    scores = critique.humans(candidates[rows], trained.sentences(references.texts), features)
    return np.asarray(np.add.reduceat(scores, references.offsets[:-1]) / counts) if len(scores) else scores


def drawn_references(captions: Captions, seed: int) -> NDArray[np.int64]:
    """Draw one random reference of each image; returns its row, int64[n].

    It depends only on the seed and the texts, not on the order of images or references.
    """
    references, start = captions.references, zlib.crc32(str(seed).encode())
    keys = [zlib.crc32(text.encode("utf-8", "surrogatepass"), start) for text in references.texts]
    return np.array(
        [min(range(a, b), key=keys.__getitem__) for a, b in pairwise(references.offsets.tolist())], np.int64
    )
