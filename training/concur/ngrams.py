"""Counts in how many images n-grams occur, for the n-gram term of the metric concur."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.data import References
from captious.metrics.shared.frequencies import DocumentFrequencies
from examples import Examples
from recipe import Recipe

__all__ = ["count_ngrams"]


def count_ngrams(
    examples: Examples, words: NDArray[np.int64], recipe: Recipe
) -> tuple[NDArray[np.int16], NDArray[np.int32], int]:
    """N-grams of these words, int16[n, 4] with -1 behind their ends, their numbers of images, and that of all images.

    N-grams of few images are left out: unknown ones weigh about as much.
    """
    captions = [*examples.images.values()]
    offsets = np.concatenate([[0], np.cumsum([len(numbers) for numbers in captions])])
    texts = tuple(examples.texts[i] for i in np.concatenate(captions).tolist())
    counted = DocumentFrequencies.of(References(tuple(range(len(captions))), texts, offsets), examples.tokenizer)
    ngrams, documents = counted.counts.entries()
    names = examples.tokens.vocabulary.words()
    rows = {names[word]: row for row, word in enumerate(words.tolist())}
    unknown = -2
    numbers = np.array([*(rows.get(word, unknown) for word in counted.vocabulary.words()), -1])
    ngrams = numbers[ngrams]  # the last entry stands for -1
    often = (documents >= recipe.least_images) & (ngrams != unknown).all(axis=1)
    ngrams, documents = ngrams[often], documents[often]
    order = np.lexsort(ngrams.T[::-1])
    return ngrams[order].astype(np.int16), documents[order].astype(np.int32), len(captions)
