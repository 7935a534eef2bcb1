"""SPARCS, the semantic part of SMURF: F1 of concepts, weighted by the share of references that have them.

Feinglass and Yang 2021, equations 9 to 11, with the tokens, stop words and stems of the authors' code.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, KeyedByFields, References, Stored, stored_key
from captious.data.storage.annotations import text_array, texts_of
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import TokenizerParameter
from captious.text.stems import porter_stem
from captious.text.stop_words import NLTK_STOP_WORDS
from captious.text.tokenizers import SMURF, Tokenizer
from captious.text.tokens import TokenLayer, Tokens


@dataclass(frozen=True, eq=False)
class Concepts:
    """The distinct concepts of captions.

    Args:
        captions: int64[n], the caption of each concept, ascending.
        ids: int64[n], concepts, numbered by the first word of each.
        of_words: int64[size of the vocabulary], the concept of each word, -1 for none.
        by_stem: the concept of each stem.
    """

    captions: NDArray[np.int64]
    ids: NDArray[np.int64]
    of_words: NDArray[np.int64]
    by_stem: Mapping[str, int]

    @property
    def n_concepts(self) -> int:
        """A number greater than all ids."""
        return len(self.of_words)


@dataclass(frozen=True)
class ConceptLayer(KeyedByFields):
    """Concepts of references and candidates, with common numbers."""

    tokenizer: Tokenizer = SMURF

    @property
    def stored_as(self) -> str | None:
        return stored_key("concepts-1", self.tokenizer.stored_as)

    def to_stored(self, annotation: Concepts, references: References) -> Stored:
        arrays = {"captions": annotation.captions, "ids": annotation.ids, "of_words": annotation.of_words}
        numbers = np.array([*annotation.by_stem.values()], np.int64)
        return Stored({**arrays, "stems": text_array([*annotation.by_stem]), "numbers": numbers})

    def from_stored(self, stored: Stored, references: References) -> Concepts:
        captions, ids, of_words = (stored.arrays[name] for name in ("captions", "ids", "of_words"))
        tokens: Tokens = references.layer(TokenLayer(self.tokenizer))
        by_stem = dict(zip(texts_of(stored.arrays["stems"]), stored.arrays["numbers"].tolist(), strict=True))
        n = len(of_words)
        sound = (
            n == len(tokens.vocabulary)
            and len(captions) == len(ids)
            and (np.diff(captions) >= 0).all()
            and 0 <= captions.min(initial=0) <= captions.max(initial=0) <= len(references.texts)
            and 0 <= ids.min(initial=0) <= ids.max(initial=0) <= n
            and -1 <= of_words.min(initial=-1) <= of_words.max(initial=-1) < max(n, 1)
            and all(0 <= number < n for number in by_stem.values())
        )
        if not sound:
            raise ValueError("concepts of other words")
        return Concepts(captions, ids, of_words, by_stem)

    def of_references(self, references: References) -> Concepts:
        tokens: Tokens = references.layer(TokenLayer(self.tokenizer))
        return _distinct(tokens, np.empty(0, np.int64), {})

    def of_candidates(self, captions: Captions, references: Concepts) -> Concepts:
        tokens: Tokens = captions.layer(TokenLayer(self.tokenizer))[0]
        return _distinct(tokens, references.of_words, references.by_stem)


def _distinct(tokens: Tokens, first_concepts: NDArray[np.int64], by_stem: Mapping[str, int]) -> Concepts:
    """Return the concepts of captions, given those of the first words of their vocabulary and of their stems."""
    by_stem = dict(by_stem)
    n = len(first_concepts)
    concepts = []
    for number, word in enumerate(tokens.vocabulary.words(n), start=n):
        is_concept = word not in NLTK_STOP_WORDS.words and not _PUNCTUATION.intersection(word)
        concepts.append(by_stem.setdefault(porter_stem(word), number) if is_concept else -1)
    of_words = np.concatenate([first_concepts, np.array(concepts, np.int64)])
    ids = of_words[tokens.ids]
    captions = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)[ids >= 0]
    size = max(1, len(of_words))
    keys = np.sort(captions * size + ids[ids >= 0])  # np.unique is slow for millions
    keys = keys[np.diff(keys, prepend=-1) > 0]
    return Concepts(keys // size, keys % size, of_words, by_stem)


_PUNCTUATION = frozenset(string.punctuation)


class Sparcs(MeanMetric):
    """F1 of the distinct concepts of a caption; 0 to 1. The corpus score is the mean.

    A concept that occurs in a share w of the references has weight w in precision and recall; a candidate's concept
    that occurs in no reference has weight 1.
    """

    name = "sparcs"
    english_only = True
    summary = "F1 of stemmed words without stop words, weighted by how many references contain them"
    variants: ClassVar[Mapping[str, str]] = {"official": "the authors' code, which agrees with the paper"}

    tokenizer: TokenizerParameter = TokenizerParameter(default=SMURF)

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        # With counts in place of shares of references all sums are whole numbers: captions that tie have equal scores.
        candidates, references = captions.layer(ConceptLayer(self.tokenizer))
        size = candidates.n_concepts
        n_references = np.diff(captions.references.offsets)
        image_of = np.repeat(np.arange(len(captions)), n_references)
        concepts, n_having = np.unique(image_of[references.captions] * size + references.ids, return_counts=True)
        total = np.bincount(concepts // size, n_having, len(captions))
        pairs = candidates.captions * size + candidates.ids
        place = np.minimum(np.searchsorted(concepts, pairs), len(concepts) - 1)
        is_shared = concepts[place] == pairs if len(concepts) else np.zeros(len(pairs), bool)
        shared = np.bincount(candidates.captions[is_shared], n_having[place[is_shared]], len(captions))
        unmatched = np.bincount(candidates.captions[~is_shared], minlength=len(captions)) * n_references
        return np.asarray(2 * shared / np.maximum(shared + unmatched + total, 1))
