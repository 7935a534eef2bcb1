"""Captions as the kernels take them: word ids and offsets, from lists of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.native import NgramFrequencies, ReferenceNgrams, TokenizerRule, Vocabulary
from tests.support.corpora import Corpus

NO_WORDS = np.empty(0, np.int32)


@dataclass
class Arrays:
    """A corpus as flat arrays over one vocabulary."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    reference_ids: NDArray[np.int32]
    reference_offsets: NDArray[np.int64]
    image_offsets: NDArray[np.int64]
    vocabulary: Vocabulary

    @property
    def candidates(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        return self.ids, self.offsets

    @property
    def references(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        return self.reference_ids, self.reference_offsets, self.image_offsets

    def index(self, threads: int = 1) -> ReferenceNgrams:
        return ReferenceNgrams(*self.references, threads)

    def frequencies(self, threads: int = 1) -> NgramFrequencies:
        counts = NgramFrequencies()
        counts.count(self.index(threads), threads)
        return counts


def arrays(corpus: Corpus) -> Arrays:
    vocabulary = Vocabulary()
    references = [reference for of_image in corpus.references for reference in of_image]
    reference_ids, reference_offsets = flat(references, vocabulary)
    ids, offsets = flat(corpus.candidates, vocabulary)
    image_offsets = np.cumsum([0, *(len(of_image) for of_image in corpus.references)], dtype=np.int64)
    return Arrays(ids, offsets, reference_ids, reference_offsets, image_offsets, vocabulary)


def flat(captions: Sequence[list[str]], vocabulary: Vocabulary) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return ids and offsets of tokenized captions, by the kernel that cuts at white space."""
    return vocabulary.encode(tuple(" ".join(caption) for caption in captions), TokenizerRule.whitespace, 1)


def of_ids(captions: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return ids and offsets of captions that consist of ids."""
    ids = np.array([i for caption in captions for i in caption], np.int32)
    return ids, np.cumsum([0, *(len(caption) for caption in captions)], dtype=np.int64)
