"""Descriptive statistics of several candidates per image, which are not metrics.

The size of a vocabulary or the number of distinct captions of a corpus is not a sum over images, as images have words
and captions in common. Such numbers have no caption scores, and resampling images gives no interval for them, so they
describe a system and are not among its scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from captious.data import CaptionSets, References
from captious.text import Tokenizer, Tokens, WordLayer

_SMALL = 1e-6  # added by self-critical.pytorch to the number of words


@dataclass(frozen=True)
class Description:
    """A description of the candidates of a system.

    Attributes:
        n_candidates: number of candidates.
        fewest, most: minimum and maximum candidates of an image.
        words: mean number of words of a candidate.
        vocabulary: number of distinct words.
        bigrams: distinct bigrams over the number of words, 0 to 1 ("global Div-2").
        distinct: share of distinct candidates, 0 to 1.
        novel: share of candidates that are distinct and not training captions, 0 to 1; None without training captions.
        tokenizer: name of the tokenizer. Captions are equal if their words are.
    """

    n_candidates: int
    fewest: int
    most: int
    words: float
    vocabulary: int
    bigrams: float
    distinct: float
    novel: float | None
    tokenizer: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "n_candidates": self.n_candidates,
            "candidates_per_image": [self.fewest, self.most],
            "words_per_candidate": self.words,
            "vocabulary": self.vocabulary,
            "distinct_bigrams_per_word": self.bigrams,
            "distinct": self.distinct,
            "novel_distinct": self.novel,
            "tokenizer": self.tokenizer,
        }


def describe(sets: CaptionSets, tokenizer: Tokenizer, training: References | None = None) -> Description:
    """Describe all candidates of a system, of one image or more.

    Args:
        sets: the candidates.
        tokenizer: splits captions into words.
        training: captions that the system was trained on.
    """
    tokens = sets.candidates.layer(WordLayer(tokenizer))
    n = len(tokens.lengths)
    _, first = np.unique(tokens.equal(), return_index=True)
    novel = None
    if training is not None:
        from captious.metrics.diversity import known_captions

        novel = float((~known_captions(training, tokenizer).has(tokens))[first].sum() / n)
    return Description(
        n_candidates=n,
        fewest=int(sets.counts.min()),
        most=int(sets.counts.max()),
        words=float(tokens.lengths.mean()),
        vocabulary=len(np.unique(tokens.ids)),
        bigrams=_distinct_bigrams(tokens) / (_SMALL + len(tokens.ids)),
        distinct=len(first) / n,
        novel=novel,
        tokenizer=tokenizer.name,
    )


def _distinct_bigrams(tokens: Tokens) -> int:
    """Return the number of distinct pairs of adjacent words in captions."""
    follows = np.ones(len(tokens.ids), bool)
    follows[tokens.offsets[:-1][tokens.lengths > 0]] = False  # the first word of a caption
    second = np.flatnonzero(follows)
    return len(np.unique(tokens.ids[second - 1].astype(np.int64) * len(tokens.vocabulary) + tokens.ids[second]))
