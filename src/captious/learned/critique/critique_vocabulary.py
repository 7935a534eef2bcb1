"""Captions as input of a critique: lower-case words without punctuation, as numbers of a fixed length.

The official code tokenizes with NLTK, whose sentence splitter needs a download; here, sentences end at ``.``, ``!`` or
``?`` before white space.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from captious.text.nltk_tokens import treebank_tokens

#: Numbers before those of the words. One more is the start mark of caption generators, which a critique never sees.
PAD, UNKNOWN, END, FIRST_WORD = 0, 1, 3, 4
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def words_of(caption: str) -> list[str]:
    """Return the words of a caption; as in the official code, without tokens that are substrings of
    ``string.punctuation``.
    """
    tokens = (token for part in _SENTENCE_END.split(caption.lower()) for token in treebank_tokens(part))
    return [token for token in tokens if token not in string.punctuation]


def vocabulary_of(captions: Iterable[str], most: int, least_count: int) -> tuple[str, ...]:
    """Return the most frequent words; among equally frequent ones, the later come first, as in the official code."""
    counts = Counter(word for caption in captions for word in words_of(caption))
    order = sorted((word for word, n in counts.items() if n >= least_count), key=counts.__getitem__)
    return tuple(order[::-1][:most])


def encoded(captions: Sequence[str], numbers: Mapping[str, int], length: int) -> NDArray[np.int32]:
    """Return captions as numbers of words, int32[n, length]: words, an end mark if there is room, padding.

    Args:
        captions: n captions.
        numbers: the number of each word of the vocabulary.
        length: maximum number of words.
    """
    rows = np.full((len(captions), length), PAD, np.int32)
    for row, caption in enumerate(captions):
        ids = [numbers.get(word, UNKNOWN) for word in words_of(caption)[:length]]
        rows[row, : len(ids)] = ids
        if len(ids) < length:
            rows[row, len(ids)] = END
    return rows
