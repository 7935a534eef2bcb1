"""Negative examples of a critique: corrupted human captions, as numbers of words, and captions of systems.

These follow section 3.3 of the paper, and the official code where the paper leaves details open.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.data import ImageId, References, read_captions
from captious.learned.critique.critique_vocabulary import END, FIRST_WORD


def replace_random_words(numbers: NDArray[np.int32], n_words: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Replace some words of a caption by random words, two or more if it has as many.

    Args:
        numbers: int32[length].
        n_words: size of the vocabulary.
        rng: random generator.
    """
    corrupted = numbers.copy()
    places = _places(numbers, rng)
    corrupted[places] = rng.integers(FIRST_WORD, n_words + FIRST_WORD, len(places))
    return corrupted


def permuted(numbers: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
    """Permute some words of a caption; after a second draw, it may still be unchanged (official code)."""
    corrupted = numbers.copy()
    places = _places(numbers, rng)
    for _ in range(2):
        corrupted[places] = numbers[rng.permutation(places)]
        if (corrupted != numbers).any():
            break
    return corrupted


def _places(numbers: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw positions of words to change: a random number of those before the end mark, or before the last position."""
    is_end = numbers == END
    size = int(is_end.argmax()) if is_end.any() else len(numbers) - 1
    n = int(rng.integers(min(2, size - 1), size)) if size > 1 else size
    return rng.permutation(size)[:n]


def captions_by_image(files: Sequence[str | os.PathLike[str]], references: References) -> dict[ImageId, list[str]]:
    """Return the captions of systems by image; systems may cover only some of the images."""
    by_image: dict[ImageId, list[str]] = {}
    for file in files:
        captions = read_captions(file, references, subset=True)
        for image, caption in zip(captions.ids, captions.candidates, strict=True):
            by_image.setdefault(image, []).append(caption)
    return by_image
